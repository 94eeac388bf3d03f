/** Laying out lines of text. Widths count code points of unpainted text. */

/** Columns of every screen, terminal or not. */
export const WIDTH = 100;

/** Most columns of a name in a list that has the rest of its line beside it, and not below. */
export const NAME_MOST = 44;

/** Columns that a text takes. */
export function columns(text: string): number {
	return [...text].length;
}

/** Text filled up with spaces on the right; longer text stays whole. */
export function pad(text: string, width: number): string {
	return text + " ".repeat(Math.max(0, width - columns(text)));
}

/** `left` with `right` at the right edge, at least two spaces between; only `left` when there is no `right`. */
export function justify(left: string, right: string): string {
	if (right === "") return left;
	return pad(left, Math.max(WIDTH - columns(right), columns(left) + 2)) + right;
}

/** `wrap`, with `right` at the right edge of the last line, or of one of its own where it has no room. */
export function wrapBeside(text: string, indent: string, right: string): readonly string[] {
	const lines = wrap(text, indent);
	const last = lines.at(-1)!;
	if (right === "") return lines;
	return columns(last) + 2 + columns(right) <= WIDTH
		? [...lines.slice(0, -1), justify(last, right)]
		: [...lines, justify("", right)];
}

/** Parts joined on as few lines as they fit on; a part stays whole. `indent` stands before every line but the first. */
export function joinParts(parts: readonly string[], indent: string, separator = " · "): readonly string[] {
	const [first = "", ...rest] = parts;
	const lines = [first];
	for (const part of rest) {
		const longer = `${lines.at(-1)}${separator}${part}`;
		if (columns(longer) <= WIDTH) lines[lines.length - 1] = longer;
		else lines.push(indent + part);
	}
	return lines;
}

/** Breaks text at spaces into lines of the screen's width; `indent` stands before every line but the first. */
export function wrap(text: string, indent: string): readonly string[] {
	const lead = /^ */.exec(text)![0];
	const lines: string[] = [];
	let line = lead;
	let fresh = true;
	for (const word of text.slice(lead.length).split(" ")) {
		const longer = fresh ? line + word : `${line} ${word}`;
		// After a mark that is no longer than the indent a new line would gain nothing.
		if (!fresh && columns(longer) > WIDTH && columns(line) > columns(indent)) {
			lines.push(line.trimEnd());
			line = indent + word;
			fresh = word === "";
		} else {
			line = longer;
			fresh = fresh && word === "";
		}
	}
	return [...lines, line];
}

/** Rows as columns two spaces apart; no trailing spaces, and no column without any text. The first row is the heading. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
	const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => columns(row[i] ?? ""))));
	return rows.map((row) =>
		row
			.map((cell, i) => pad(cell, widths[i] ?? 0))
			.filter((cell) => cell !== "")
			.join("  ")
			.trimEnd(),
	);
}

/**
 * Text that comes from elsewhere, made safe for a terminal: control characters and marks that reverse the
 * direction of writing are shown as escapes, so that nothing can move the cursor or disguise itself.
 */
export function printable(text: string): string {
	return text.replace(
		/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
		(char) => {
			const code = char.codePointAt(0)!;
			return code < 256
				? `\\x${code.toString(16).padStart(2, "0")}`
				: `\\u${code.toString(16).padStart(4, "0")}`;
		},
	);
}

/** The lines of a text that comes from elsewhere, each made safe. */
export function printableLines(text: string): readonly string[] {
	return text.trimEnd().split(/\r?\n/).map(printable);
}
