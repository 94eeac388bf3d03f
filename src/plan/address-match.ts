/** Address patterns of `-replace`, `-target` and `-exclude`. */

/**
 * A test for addresses: true when one of the patterns matches the whole address. `*` stands for any
 * characters, `?` for one; everything else is literal. No patterns match nothing.
 */
export function addressMatcher(patterns: readonly string[]): (address: string) => boolean {
	const tests = patterns.map((pattern) => {
		const body = pattern
			.replace(/[\\^$.|+()[\]{}]/g, "\\$&")
			.replaceAll("*", ".*")
			.replaceAll("?", ".");
		return new RegExp(`^${body}$`, "su");
	});
	return (address) => tests.some((test) => test.test(address));
}
