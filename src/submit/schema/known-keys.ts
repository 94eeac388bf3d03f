/** Which keys the schema knows at a place of the document, for typo help. */
import type { JsonSchema } from "../json-schema.ts";
import type { Path } from "../path.ts";

/** The forms a node may have, given what stands there: a mapping's `type` picks among several. */
function branches(schema: JsonSchema, raw: unknown): readonly JsonSchema[] {
	const all = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
	if (all.length === 0) return [schema];
	const type = raw instanceof Map ? raw.get("type") : undefined;
	const fits = (branch: JsonSchema) => {
		const wanted = branch.properties?.type?.const;
		return wanted === undefined || wanted === type;
	};
	return all.filter(fits).flatMap((branch) => branches(branch, raw));
}

/** Names of the fields at `path`; `raw` is the document that was given. */
export function knownKeys(schema: JsonSchema, raw: unknown, path: Path): readonly string[] {
	let nodes: readonly JsonSchema[] = branches(schema, raw);
	let value = raw;
	for (const step of path) {
		value = value instanceof Map ? value.get(step) : undefined;
		nodes = nodes.flatMap((node) => {
			const next = node.properties?.[step] ?? node.additionalProperties;
			return typeof next === "object" ? branches(next, value) : [];
		});
	}
	return nodes.flatMap((node) => Object.keys(node.properties ?? {}));
}
