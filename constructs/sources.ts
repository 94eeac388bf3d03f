/** Which construct wrote which part of a document. */
import type { SourceMap } from "../src/submit/config.ts";
import type { Path } from "../src/submit/path.ts";
import type { Origin } from "./problem.ts";

/** Path in the document and who wrote what is there and below. */
export type SourceEntry = readonly [path: Path, origin: Origin];

/** A source map that answers with the entry of the longest path that leads to the one asked for. */
export function sourceMap(entries: readonly SourceEntry[]): SourceMap {
	const known = new Map(entries.map(([path, origin]) => [JSON.stringify(path), origin]));
	return {
		locate(path) {
			for (let length = path.length; length >= 0; length--) {
				const origin = known.get(JSON.stringify(path.slice(0, length)));
				if (origin) return origin;
			}
			return {};
		},
	};
}
