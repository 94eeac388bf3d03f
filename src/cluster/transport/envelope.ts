/**
 * What goes round a script on its way: a mark before its output (banners and rc files print before it), a
 * mark with its exit code behind (its absence tells a cut connection), and protection against running half
 * of a script whose sender died.
 */
import { fail, type GymError } from "../../errors.ts";
import { type ProcessResult, STDOUT_LIMIT } from "./output.ts";
import type { Exchange } from "./transport.ts";

/** The last thing a script's envelope prints starts with this. */
export function trailer(nonce: string): string {
	return `\n${nonce} exit=`;
}

/**
 * The text for the stdin of `bash -s`. bash reads a script from a pipe byte by byte, so only the short head is
 * read that way; an inner bash takes the rest in one go, as one group: when its end is missing, or it does
 * not parse, nothing of it runs. The inner bash is the script's own process: `$$` is its pid, and its death
 * is reported like any exit.
 * @throws GymError code `nul-in-script`: bash would drop the character silently
 */
export function wrapScript(script: string, nonce: string): string {
	if (script.includes("\0")) {
		throw fail("invalid", "nul-in-script", "a script holds a NUL character, which no shell can read");
	}
	const inner = `printf "%s\\n" ${nonce}; printf "%s\\n" ${nonce} >&2; eval "$(cat)" </dev/null`;
	// The outer bash keeps quiet itself: how the script ended stands in the trailer.
	const head = `{ exec 3>&2 2>/dev/null; "$BASH" --norc -c '${inner}' 2>&3 3>&-; printf '\\n%s exit=%s\\n' ${nonce} "$?"; exit; }`;
	return `${head}\n{ :\n${script}\n}\n`;
}

/** What came back, as far as it came. */
export interface Answer {
	/** The inner bash was there, so the script may have run. */
	readonly started: boolean;
	/** Null when the answer has no end, or no beginning. */
	readonly exchange: Exchange | null;
}

/** Takes the marks off again. */
export function readAnswer(result: ProcessResult, nonce: string): Answer {
	const mark = `${nonce}\n`;
	const from = result.stdout.indexOf(mark);
	if (from < 0) return { started: false, exchange: null };
	const body = result.stdout.subarray(from + mark.length);
	const end = body.lastIndexOf(trailer(nonce));
	const code = end < 0 ? null : /^(\d+)\n/.exec(body.toString("latin1", end + trailer(nonce).length));
	if (!code) return { started: true, exchange: null };
	const stderr = result.stderr.toString();
	return {
		started: true,
		exchange: {
			code: Number(code[1]),
			stdout: body.toString("utf8", 0, end),
			stderr: stderr.slice(stderr.indexOf(mark) < 0 ? 0 : stderr.indexOf(mark) + mark.length),
		},
	};
}

/** The error for an answer that was cut off by us; null when it was not. */
export function cutOff(
	result: ProcessResult,
	label: string,
	name: string,
	timeoutMs: number,
): GymError | null {
	if (result.ended === "timeout") {
		return lost(label, name, `no answer within ${timeoutMs / 1000} s`);
	}
	if (result.ended === "overflow") {
		const limit = `${STDOUT_LIMIT / 1024 / 1024} MiB`;
		return fail("failure", "output-too-large", `${label}: the answer of "${name}" is larger than ${limit}`);
	}
	return null;
}

/** The error for an exchange of which nobody knows how far it came. */
export function lost(label: string, name: string, why: string): GymError {
	return fail(
		"unreachable",
		"exchange-lost",
		`${label}: the exchange "${name}" got lost: ${why}; what it did is not known`,
		"run the same command again: it looks up what exists before it does anything",
	);
}

/**
 * The last words of a program, fit for one line of a message: no control characters, at most 400 characters.
 * @param nonce the mark of an envelope, which nobody said
 */
export function lastWords(output: Buffer, nonce?: string): string {
	const lines = output
		.toString()
		.replace(/\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]/g, "")
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => /[A-Za-z0-9]/.test(line) && line !== nonce);
	return lines.slice(-3).join("; ").slice(-400);
}
