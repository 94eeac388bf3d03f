/** Names of stacks, from either front end. */

/** Whether it can be part of an address and of a file name, and a comment of a script: letters, digits and `.`, `_`, `-`. */
export function isStackName(name: string): boolean {
	return /^[A-Za-z0-9._-]+$/.test(name) && !/^\.+$/.test(name);
}
