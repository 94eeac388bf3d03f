/** Text inside a script, exactly as it is: nothing in it is expanded, and it may span lines. */
import { quote } from "./quote.ts";

/**
 * The opening word and the lines of a here-document whose end mark occurs nowhere in the text.
 * @param mark wanted end mark, a plain word
 */
function heredoc(text: string, mark: string): { readonly open: string; readonly lines: string } {
	const lines = new Set(text.split("\n"));
	let end = mark;
	for (let n = 2; lines.has(end); n++) end = `${mark}_${n}`;
	return { open: `<<'${end}'`, lines: `${text}\n${end}` };
}

/** A shell function that prints the text: legibly, unless it holds characters that the script may not. */
export function textFunction(name: string, text: string, mark: string): string {
	if (text.includes("\r")) return `${name}() {\n\tprintf '%s\\n' ${quote(text)}\n}`;
	const { open, lines } = heredoc(text, mark);
	return `${name}() {\n\tcat ${open}\n${lines}\n}`;
}
