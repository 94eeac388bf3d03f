/** Structural diff of two submit documents, by path. */
import type { SourceMap, Value } from "../submit/config.ts";
import { isFloat } from "../submit/float.ts";
import { classOf } from "./change-class.ts";
import type { Change } from "./plan.ts";

type Path = readonly (string | number)[];
type Mapping = ReadonlyMap<string, Value>;

/**
 * What changed from `before` to `after`. Mappings are compared by key, lists item by item when they are of
 * one length, else as a whole. The order of keys counts only in `services` and `node_pools`, where it decides
 * start order and hosts; such a change has `order` set and follows the changes of its entries.
 * @param sources where the paths of `after` were written
 */
export function diffDocuments(before: Mapping, after: Mapping, sources?: SourceMap): readonly Change[] {
	return diffMaps([], before, after).map((change) => {
		const source = sources?.locate(change.path).source;
		return source ? { ...change, source } : change;
	});
}

function diffMaps(path: Path, before: Mapping, after: Mapping): Change[] {
	const changes: Change[] = [];
	const kept = [...before.keys()].filter((key) => after.has(key));
	const added = [...after.keys()].filter((key) => !before.has(key));
	for (const [key, value] of after) changes.push(...diffValues([...path, key], before.get(key), value));
	for (const [key, value] of before) {
		if (!after.has(key)) changes.push(...diffValues([...path, key], value, undefined));
	}
	const reached = [...kept, ...added];
	const wanted = [...after.keys()];
	if (isOrdered(path) && reached.some((key, i) => key !== wanted[i])) {
		changes.push({ path, before: [...before.keys()], after: wanted, class: classOf(path), order: true });
	}
	return changes;
}

function diffValues(path: Path, before: Value | undefined, after: Value | undefined): Change[] {
	if (before instanceof Map && after instanceof Map) return diffMaps(path, before, after);
	if (isList(before) && isList(after) && before.length === after.length) {
		return after.flatMap((item, i) => diffValues([...path, i], before[i], item));
	}
	if (isSame(before, after)) return [];
	return [{ path, before, after, class: classOf(path) }];
}

/** Deep equality. Key order of mappings does not count. */
function isSame(a: Value | undefined, b: Value | undefined): boolean {
	if (isList(a) && isList(b)) return a.length === b.length && a.every((item, i) => isSame(item, b[i]));
	if (a instanceof Map && b instanceof Map) {
		return a.size === b.size && [...a].every(([key, value]) => b.has(key) && isSame(value, b.get(key)));
	}
	if (isFloat(a) && isFloat(b)) return a.value === b.value;
	return Object.is(a, b);
}

function isOrdered(path: Path): boolean {
	return (
		(path.length === 1 && path[0] === "services") ||
		(path.length === 3 && path[0] === "compute" && path[2] === "node_pools")
	);
}

function isList(value: Value | undefined): value is readonly Value[] {
	return Array.isArray(value);
}
