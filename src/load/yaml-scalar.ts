/**
 * The type of a plain (unquoted) YAML scalar. Users write for the peer, whose reader (OmegaConf's, on
 * PyYAML) follows YAML 1.1, so `yes`, `off` and `1_000` mean here what they mean there. On purpose
 * otherwise: `12:30:00` and `0755` stay text, where YAML 1.1 makes 45000 and 493 of them; nobody who
 * writes a walltime or a tag means that. Octals in the form `0o17` are text in the peer's reader too.
 */
import { type Float, float } from "../submit/float.ts";

const NULL = new Set(["", "~", "null", "Null", "NULL"]);
const TRUE = new Set(["yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"]);
const FALSE = new Set(["no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"]);
const WHOLE = /^[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|0b[01_]+)$/;
// PyYAML's floats, and those that OmegaConf adds: an exponent without a dot or sign.
const FLOAT =
	/^(?:[-+]?(?:\d[0-9_]*\.[0-9_]*(?:[eE][-+]\d+)?|\d+(?:_\d+)*(?:\.[0-9_]*)?[eE][-+]?\d+)|\.\d[0-9_]*(?:[eE][-+]\d+)?)$/;
const SPECIAL = new Map([
	["inf", Number.POSITIVE_INFINITY],
	["nan", Number.NaN],
]);

/** What a plain scalar stands for; `"too-large"` for a whole number that we would round. */
export type PlainScalar =
	| { readonly kind: "value"; readonly value: null | boolean | number | string | Float }
	| { readonly kind: "too-large" };

function whole(text: string): PlainScalar {
	const digits = text.replaceAll("_", "").replace(/^[-+]/, "");
	const value = (text.startsWith("-") ? -1 : 1) * Number(digits);
	return Number.isSafeInteger(value)
		? { kind: "value", value: value === 0 ? 0 : value }
		: { kind: "too-large" };
}

/** Reads a plain scalar. */
export function readPlain(text: string): PlainScalar {
	if (NULL.has(text)) return { kind: "value", value: null };
	if (TRUE.has(text)) return { kind: "value", value: true };
	if (FALSE.has(text)) return { kind: "value", value: false };
	if (WHOLE.test(text)) return whole(text);
	if (FLOAT.test(text)) return { kind: "value", value: float(Number(text.replaceAll("_", ""))) };
	const special = /^([-+]?)\.(inf|Inf|INF|nan|NaN|NAN)$/.exec(text);
	if (special) {
		const size = SPECIAL.get(special[2]!.toLowerCase())!;
		return { kind: "value", value: special[1] === "-" ? -size : size };
	}
	return { kind: "value", value: text };
}
