/** Patterns of ssh: `*` is any text, `?` one character, a leading `!` excludes. */

function fits(pattern: string, text: string): boolean {
	const source = pattern
		.replace(/[\\^$.+()[\]{}|]/g, "\\$&")
		.replace(/\*+/g, ".*")
		.replaceAll("?", ".");
	return new RegExp(`^${source}$`, "s").test(text);
}

/** Does a list of patterns hold for this text? One that fits and excludes beats all others. */
export function patternsHold(patterns: readonly string[], text: string): boolean {
	const excluded = patterns.some((pattern) => pattern.startsWith("!") && fits(pattern.slice(1), text));
	return !excluded && patterns.some((pattern) => !pattern.startsWith("!") && fits(pattern, text));
}
