/**
 * Scalars of the document. Numbers and switches may be given as text (`"8000"`, `"yes"`), as the peer
 * takes them, and a whole number as a float (`4.0`); a switch where a number belongs is refused, which the
 * peer reads as 1.
 */
import * as z from "zod";
import { parseDuration } from "../duration.ts";
import { isVariableName } from "../env-value.ts";
import { asNumber } from "../float.ts";
import { checked } from "./issue.ts";

const WHOLE = /^\s*[+-]?\d+(?:_\d+)*(?:\.0*)?\s*$/;
const NUMBER = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
const YES = new Set(["1", "on", "t", "true", "y", "yes"]);
const NO = new Set(["0", "off", "f", "false", "n", "no"]);

const numeric = (grammar: RegExp) => (value: unknown) =>
	typeof value === "string" && grammar.test(value) ? Number(value.replaceAll("_", "")) : asNumber(value);

/** A whole number of at least `least` and at most `most`. */
function whole(least: number, most: number) {
	return z.preprocess(numeric(WHOLE), z.int().min(least).max(most));
}

/** Most of anything that is counted: Slurm keeps counts of tasks and nodes in 16 bits, less two words for "none". */
const MOST = 65_533;

/** A count, e.g. of nodes: at least `least` (default 0), at most what Slurm can keep. */
export function count(least = 0) {
	return whole(least, MOST);
}

/** Whole seconds, at least one; at most what 31 bits hold, 68 years. */
export function seconds() {
	return whole(1, 2 ** 31 - 1);
}

/** A number of at least 0. */
export function amount() {
	return z.preprocess(numeric(NUMBER), z.number().min(0));
}

/** A TCP port. */
export function port() {
	return whole(1, 65535);
}

/** Reads what the peer takes for true or false; anything else comes back as it is. */
export function readSwitch(given: unknown): unknown {
	const value = asNumber(given);
	const word =
		typeof value === "number" ? String(value) : typeof value === "string" ? value.toLowerCase() : "";
	return YES.has(word) ? true : NO.has(word) ? false : value;
}

/** True or false. */
export function toggle() {
	return z.preprocess(readSwitch, z.boolean());
}

/** Text, any. NUL is refused everywhere: no process can be given it. */
export function text() {
	return checked(z.string(), (value) =>
		value.includes("\0")
			? { code: "nul-in-value", message: "holds a NUL character, which no program can be given" }
			: undefined,
	);
}

/** Text that is not empty and stays on one line. */
export function line() {
	return checked(z.string(), (value) => {
		if (value.trim() === "") return { code: "empty", message: "must not be empty" };
		if (/[\0-\x08\x0a-\x1f\x7f\x85\u2028\u2029]/.test(value)) {
			return {
				code: "line-break",
				message: "holds a line break or control character",
				remedy: "write it on one line",
			};
		}
		return undefined;
	});
}

/** The name of an environment variable. */
export function variableName() {
	return checked(z.string(), (value) =>
		isVariableName(value)
			? undefined
			: {
					code: "variable-name",
					message: `${JSON.stringify(value)} is not a variable name`,
					remedy: "letters, digits and _, not starting with a digit",
				},
	);
}

/** A duration in Slurm's grammar, longer than nothing. A bare `90` in YAML is the text `90`: 90 minutes. */
export function duration() {
	const source = (value: unknown) =>
		typeof value === "number" && Number.isInteger(value) ? String(value) : value;
	return z.preprocess(
		source,
		checked(z.string(), (value) => {
			const seconds = parseDuration(value);
			if (seconds !== null && seconds > 0) return undefined;
			return {
				code: "bad-duration",
				message: `${JSON.stringify(value)} is not a duration${seconds === 0 ? " above zero" : ""}`,
				remedy: "write MM, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS",
			};
		}),
	);
}
