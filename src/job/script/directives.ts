/** `#SBATCH` lines. sbatch reads them itself, with rules of its own, not a shell's. */
import type { Directive } from "../model.ts";

const PLAIN = /^[A-Za-z0-9_.,:=+@%/-]+$/;

/**
 * A value as sbatch reads it from a script: in double quotes unless it is plain, since a space or `#` would
 * end it; a backslash makes the next character literal. Line breaks were refused before.
 */
function directiveValue(value: string): string {
	return PLAIN.test(value) ? value : `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

/** One line per directive. */
export function directiveLines(directives: readonly Directive[]): string {
	return directives
		.map(({ key, value }) => `#SBATCH --${key}${value === null ? "" : `=${directiveValue(value)}`}`)
		.join("\n");
}
