/** The validated document as text, the form in which the state keeps it. */
import { parse, stringify } from "yaml";
import type { Value } from "../submit/config.ts";

/** Canonical YAML of a document: no anchors, no folding, keys in the document's order. */
export function writeDocument(document: ReadonlyMap<string, Value>): string {
	return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
}

/**
 * Reads what `writeDocument` wrote. Keys are always strings, mappings are Maps.
 * @throws when the text is no YAML mapping, which only a damaged state can hold
 */
export function readDocument(text: string): ReadonlyMap<string, Value> {
	const value: unknown = parse(text, { mapAsMap: true, stringKeys: true, maxAliasCount: 0 });
	if (!(value instanceof Map)) throw new TypeError("not a mapping");
	return value as ReadonlyMap<string, Value>;
}
