/** The validated document as text, the form in which the state keeps it. */
import { parse, type ScalarTag, stringify, type Tags } from "yaml";
import type { Value } from "../submit/config.ts";
import { float, isFloat } from "../submit/float.ts";

/** Whole floats keep their point; the library would read and write them as integers. */
const WHOLE_FLOAT: ScalarTag = {
	tag: "tag:yaml.org,2002:float",
	default: true,
	identify: isFloat,
	test: /^-?\d+\.0$/,
	resolve: (text) => float(Number(text)),
	stringify: ({ value }) => String(value),
};

const customTags = (tags: Tags): Tags => [WHOLE_FLOAT, ...tags];

/** Canonical YAML of a document: no anchors, no folding, keys in the document's order. */
export function writeDocument(document: ReadonlyMap<string, Value>): string {
	return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0, customTags });
}

/**
 * Reads what `writeDocument` wrote. Keys are always strings, mappings are Maps.
 * @throws when the text is no YAML mapping, which only a damaged state can hold
 */
export function readDocument(text: string): ReadonlyMap<string, Value> {
	const value: unknown = parse(text, { mapAsMap: true, stringKeys: true, maxAliasCount: 0, customTags });
	if (!(value instanceof Map)) throw new TypeError("not a mapping");
	return value as ReadonlyMap<string, Value>;
}
