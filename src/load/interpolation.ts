/** OmegaConf's `${…}` in text. */

/** Variables that a job exports itself: an `oc.env` of one is for the driver to resolve. */
const OF_THE_JOB = /^\$\{\s*oc\.env\s*:\s*(?:HEAD_NODE_IP|RAY_HEAD_NODE_IP|GYM_\w+)\s*(?:,[^{}]*)?\}/;

/**
 * The text that a document's text stands for: `\${` is a literal `${`, and backslashes count only directly
 * before one. Null when there is an interpolation that is ours to resolve.
 */
export function literalText(text: string): string | null {
	let open = false;
	const literal = text.replaceAll(/(\\*)\$\{/g, (match, slashes: string, at: number) => {
		const bare = slashes.length % 2 === 0;
		if (bare && !OF_THE_JOB.test(text.slice(at + slashes.length))) open = true;
		return `${slashes.slice(0, Math.floor(slashes.length / 2))}${match.slice(slashes.length)}`;
	});
	return open ? null : literal;
}
