/**
 * `run` and `prepare` as Hydra 1.3 overrides. A token, parsed by Hydra, gives back exactly the document's
 * value: text is quoted unless it can only be read as text, mappings become dotted paths where Hydra's key
 * grammar allows it and mapping literals where it does not.
 */
import type { Problem } from "../errors.ts";
import type { Value } from "../submit/config.ts";
import { isFloat } from "../submit/float.ts";

/** A key that may stand in a dotted path, also as the only part. */
const PATH_KEY = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;
/** Whole numbers are read as keys too, but only below another key. */
const NUMBER_KEY = /^(0|[1-9][0-9]*)$/;
/** Text that Hydra reads as one identifier. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const KEYWORD = /^(null|true|false|inf|nan)$/i;
const INTEGER = "(0|[1-9](_?[0-9])*)";
const POINT = `(${INTEGER}\\.|${INTEGER}?\\.[0-9](_?[0-9])*)`;
const NUMBER = new RegExp(
	`^[+-]?(${INTEGER}|${POINT}|(${INTEGER}|${POINT})[eE][+-]?[0-9](_?[0-9])*|inf|nan)$`,
	"i",
);
/** What a key inside a mapping literal can hold, escaped or not. */
const LITERAL_KEY = /^[A-Za-z0-9_/\-\\+.$%*@?|()[\]{}:=, \t]+$/;

/** Is there any way to write this key? Depth 0 is a key of `run` itself; `literal`: inside a mapping literal. */
function keyFault(key: string, depth: number, literal: boolean): string | null {
	if (!literal) return depth === 0 && !PATH_KEY.test(key) ? "has no dotted path in Hydra's grammar" : null;
	if (!LITERAL_KEY.test(key)) return "holds a character that Hydra's grammar has no way to write in a key";
	if (NUMBER.test(key) || KEYWORD.test(key)) return "would be read as a number, boolean or null";
	return null;
}

/** Can the whole mapping be written as dotted paths (and so keep keys like `12` as text)? */
function pathable(map: ReadonlyMap<string, Value>): boolean {
	return [...map.keys()].every((key) => PATH_KEY.test(key) || NUMBER_KEY.test(key));
}

/** Hydra's quoted form: backslashes count only before a quote, so only those are doubled. */
function quoted(text: string): string {
	return `"${text.replace(/(\\*)("|$)/g, (_, slashes: string, end: string) => slashes + slashes + (end && '\\"'))}"`;
}

function literalKey(key: string): string {
	const escaped = key.replace(/[\\()[\]{}:=,\t]/g, "\\$&");
	return escaped.replace(/^ +| +$/g, (spaces) => "\\ ".repeat(spaces.length));
}

function number(value: number): string {
	if (Number.isNaN(value)) return "nan";
	if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
	return Object.is(value, -0) ? "-0.0" : String(value);
}

/** One value in Hydra's grammar, so that parsing it gives the value back. */
export function hydraValue(value: Value): string {
	if (value === null) return "null";
	if (typeof value === "boolean" || isFloat(value)) return String(value);
	if (typeof value === "number") return number(value);
	if (typeof value === "string")
		return IDENTIFIER.test(value) && !KEYWORD.test(value) ? value : quoted(value);
	if (value instanceof Map) {
		return `{${[...value].map(([key, item]) => `${literalKey(key)}: ${hydraValue(item)}`).join(", ")}}`;
	}
	return `[${(value as readonly Value[]).map(hydraValue).join(",")}]`;
}

/**
 * The override tokens of a mapping, in its order.
 * @param options.prefix what stands before each key: `+` adds a value, `++` adds or replaces it
 */
export function hydraTokens(
	map: ReadonlyMap<string, Value>,
	options: { readonly prefix: "" | "+" | "++" },
): readonly string[] {
	const tokens = (part: ReadonlyMap<string, Value>, path: string): string[] =>
		[...part].flatMap(([key, value]) =>
			value instanceof Map && value.size > 0 && pathable(value)
				? tokens(value, `${path}${key}.`)
				: [`${options.prefix}${path}${key}=${hydraValue(value)}`],
		);
	return tokens(map, "");
}

/** Keys of a mapping that no override can carry, each with its document path below `at`. */
export function hydraProblems(map: ReadonlyMap<string, Value>, at: string): readonly Problem[] {
	const look = (value: Value, path: string, depth: number, literal: boolean): Problem[] => {
		if (value instanceof Map) {
			const inner = literal || (depth > 0 && !pathable(value));
			return [...(value as ReadonlyMap<string, Value>)].flatMap(([key, item]) => {
				const fault = keyFault(key, depth, inner);
				const below = look(item, `${path}.${key}`, depth + 1, inner);
				return fault ? [problem(key, fault, `${path}.${key}`), ...below] : below;
			});
		}
		if (Array.isArray(value)) {
			return value.flatMap((item: Value, i) => look(item, `${path}[${i}]`, depth + 1, true));
		}
		return [];
	};
	return look(map, at, 0, false);
}

function problem(key: string, fault: string, at: string): Problem {
	return {
		code: "hydra-key",
		severity: "error",
		at,
		message: `the key ${JSON.stringify(key)} ${fault}, so it cannot be passed on as an override`,
		remedy: key.includes(".")
			? "write the dotted path as nested keys"
			: "rename the key, or pass it in a config file",
	};
}
