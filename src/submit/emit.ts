/** Writes submit documents as YAML that every reader takes for the same values: PyYAML, OmegaConf and YAML 1.2. */
import { fail } from "../errors.ts";
import type { SubmitConfig, Value } from "./config.ts";
import { type Float, isFloat } from "./float.ts";

/** The validated document as a plain tree, keys in the order of the Configuration Reference; `env` as references. */
export function toPlain(config: SubmitConfig): ReadonlyMap<string, Value> {
	return plainStruct({
		services: config.services,
		compute: config.compute,
		driver: config.driver,
		job: config.job,
		otel: config.otel,
	});
}

/** The schema's own order of fields; names that users chose are never the keys of these objects. */
function plainStruct(struct: object): ReadonlyMap<string, Value> {
	return new Map(Object.entries(struct).map(([key, value]) => [key, plain(value)]));
}

function plain(value: unknown): Value {
	if (value instanceof Map) return new Map([...value].map(([key, item]) => [String(key), plain(item)]));
	if (Array.isArray(value)) return value.map(plain);
	if (typeof value === "object" && value !== null && !isFloat(value)) return plainStruct(value);
	return value as Value;
}

/** Words that some reader takes for something else than text when they stand bare. */
const WORDS = new Set(["y", "n", "yes", "no", "on", "off", "true", "false", "null"]);

/** Double quotes, with every character escaped that a reader may refuse, fold or drop. */
function quoted(text: string): string {
	const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
	return JSON.stringify(text).replaceAll(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped);
}

/** OmegaConf reads `${` as an interpolation; backslashes count only directly before it. */
function withoutInterpolation(text: string): string {
	return text.replaceAll(/(\\*)\$\{/g, "$1$1\\${");
}

function number(value: number): string {
	if (Number.isNaN(value)) return ".nan";
	if (!Number.isFinite(value)) return value < 0 ? "-.inf" : ".inf";
	if (Object.is(value, -0)) return "-0.0";
	const digits = String(value);
	// YAML 1.1 takes an exponent for a number only after a dot.
	return /^-?\d+e/.test(digits) ? digits.replace("e", ".0e") : digits;
}

function key(name: string): string {
	if (name === "<<")
		throw fail("invalid", "merge-key", 'the key "<<" cannot be written: YAML readers merge it');
	return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) && !WORDS.has(name.toLowerCase()) ? name : quoted(name);
}

function scalar(value: null | boolean | number | string | Float): string {
	if (typeof value === "string") return quoted(withoutInterpolation(value));
	return typeof value === "number" ? number(value) : String(value);
}

/** The value as lines; the first one goes on behind what leads to it when it is `inline`. */
function block(value: Value): { readonly inline: boolean; readonly lines: readonly string[] } {
	if (value instanceof Map) {
		if (value.size === 0) return { inline: true, lines: ["{}"] };
		return {
			inline: false,
			lines: [...value].flatMap(([name, item]) => entry(`${key(name)}:`, block(item))),
		};
	}
	if (Array.isArray(value)) {
		if (value.length === 0) return { inline: true, lines: ["[]"] };
		return { inline: false, lines: value.flatMap(listItem) };
	}
	return { inline: true, lines: [scalar(value as null | boolean | number | string | Float)] };
}

function entry(lead: string, { inline, lines }: ReturnType<typeof block>): readonly string[] {
	return inline ? [`${lead} ${lines[0]}`] : [lead, ...lines.map((text) => `  ${text}`)];
}

function listItem(item: Value): readonly string[] {
	const [first, ...rest] = block(item).lines;
	return [`- ${first}`, ...rest.map((text) => `  ${text}`)];
}

/**
 * The document as YAML text. Mappings keep the order they have; text is always in double quotes, so that
 * no reader types it. `${` is escaped for OmegaConf and reads back as text.
 * @throws GymError code `merge-key` for a key `<<`
 */
export function emitYaml(document: ReadonlyMap<string, Value> | SubmitConfig): string {
	const tree =
		document instanceof Map ? (document as ReadonlyMap<string, Value>) : toPlain(document as SubmitConfig);
	return `${block(tree).lines.join("\n")}\n`;
}
