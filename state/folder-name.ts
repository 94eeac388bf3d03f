/** A stack's name as the name of a folder. The name is a user's text: it may hold slashes, dots or any character. */

const PLAIN = /^[a-z0-9_.-]$/;

/**
 * Folder of a stack: bytes other than `a-z0-9_.-` are written `%xx`, a dot in front too. Capitals as well, so that
 * `A` and `a` stay two stacks where file names ignore case.
 */
export function folderName(stack: string): string {
	if (stack === "") return "%";
	const bytes = new TextEncoder().encode(stack);
	return Array.from(bytes, (byte, index) => {
		const character = String.fromCharCode(byte);
		const plain = PLAIN.test(character) && !(index === 0 && character === ".");
		return plain ? character : `%${byte.toString(16).padStart(2, "0")}`;
	}).join("");
}

/** The stack of a folder; null when no stack is called like that. */
export function stackOfFolder(folder: string): string | null {
	if (folder === "%") return "";
	try {
		const stack = decodeURIComponent(folder);
		return folderName(stack) === folder ? stack : null;
	} catch {
		return null;
	}
}
