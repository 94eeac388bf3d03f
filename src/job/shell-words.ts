/** A look at shell words that a user wrote, without expanding anything. */

/**
 * Why `text` is not one line of complete shell words; null when it is. A line break counts only outside of
 * quotes: there it would end the command.
 */
export function shellWordsFault(text: string): "unclosed-quote" | "line-break" | null {
	let quote = "";
	for (let i = 0; i < text.length; i++) {
		const c = text[i];
		if (c === "\\" && quote !== "'") i++;
		else if (quote) quote = c === quote ? "" : quote;
		else if (c === "'" || c === '"') quote = c;
		else if (c === "\n") return "line-break";
	}
	return quote ? "unclosed-quote" : null;
}
