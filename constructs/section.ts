/** From props to a part of the submit document. */

/** Part of the document as a construct gives it: the document's keys, references and values still as written. */
export type Section = ReadonlyMap<string, unknown>;

/**
 * Props under the document's keys: `nodePool` becomes `node_pool`. What is undefined was not set and is left
 * out. A key that the document does not know stays, so that validation can report the slip.
 */
export function section(props: object): Map<string, unknown> {
	const set = Object.entries(props).filter(([, value]) => value !== undefined);
	return new Map(set.map(([key, value]) => [snakeCase(key), value]));
}

/** A prop that is itself a group of props; `null`, and anything that is no group, stays as it is. */
export function nested(value: unknown): unknown {
	return typeof value === "object" && value !== null ? section(value) : value;
}

function snakeCase(key: string): string {
	return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
