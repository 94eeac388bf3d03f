/**
 * The one quoting module: every value that reaches a shell goes through here, for the job script and for
 * remote exchanges alike.
 */
import { GymError } from "../../errors.ts";

const SAFE = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * One bash word whose value is exactly `value`. Single quotes throughout, so nothing expands; the result may
 * span lines when the value does. It holds no carriage return: sbatch refuses a script with a DOS line break.
 * @throws GymError code `nul-in-value` for a NUL character, which no shell word can hold
 */
export function quote(value: string): string {
	if (value.includes("\0")) {
		throw new GymError("invalid", {
			code: "nul-in-value",
			severity: "error",
			at: "",
			message: "a value holds a NUL character, which no shell can pass on",
		});
	}
	if (SAFE.test(value)) return value;
	return `'${value.replaceAll(/['\r]/g, (character) => (character === "'" ? `'\\''` : `'$'\\r''`))}'`;
}

/** Several words, each quoted, joined by spaces. */
export function quoteAll(values: readonly string[]): string {
	return values.map(quote).join(" ");
}
