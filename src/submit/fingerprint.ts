/** What makes two jobs the same job. */
import { createHash } from "node:crypto";
import type { SubmitConfig, Value } from "./config.ts";
import { toPlain } from "./emit.ts";
import { isFloat } from "./float.ts";
import { resumableLimits } from "./resumable.ts";

/** Raised when the same document would give another fingerprint. */
const FINGERPRINT_VERSION = 1;

/**
 * The validated document as one benchmark's job sees it: the other benchmarks left out, and
 * `resumable: true` spelt out, so that both spellings are one.
 * @throws Error when there is no such benchmark
 */
export function benchmarkDocument(config: SubmitConfig, benchmark: string): ReadonlyMap<string, Value> {
	const entry = config.driver.benchmarks.get(benchmark);
	if (!entry) throw new Error(`no benchmark ${benchmark}`);
	const resumable = resumableLimits(entry.resumable) ?? false;
	const benchmarks = new Map([[benchmark, { ...entry, resumable }]]);
	return toPlain({ ...config, driver: { ...config.driver, benchmarks } });
}

/** Mappings whose order is part of the meaning: services start in it, pools own nodes in it. */
function isOrdered(path: readonly string[]): boolean {
	return (
		path.join(".") === "services" || (path.length === 3 && path[0] === "compute" && path[2] === "node_pools")
	);
}

const byName = ([a]: readonly [string, Value], [b]: readonly [string, Value]) => (a < b ? -1 : a > b ? 1 : 0);

/** One text for one meaning: like JSON, with floats as `1.0` and keys sorted where their order means nothing. */
function canonical(value: Value, path: readonly string[]): string {
	if (value instanceof Map) {
		const entries: readonly (readonly [string, Value])[] = [...value];
		const sorted = isOrdered(path) ? entries : entries.toSorted(byName);
		return `{${sorted.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, [...path, key])}`).join(",")}}`;
	}
	if (Array.isArray(value)) return `[${value.map((item) => canonical(item, [...path, "[]"])).join(",")}]`;
	return typeof value === "number" || isFloat(value) ? String(value) : JSON.stringify(value);
}

/** The fingerprint of a benchmark's document: version, colon, SHA-256 in hex. */
export function fingerprint(document: ReadonlyMap<string, Value>): string {
	const digest = createHash("sha256").update(canonical(document, [])).digest("hex");
	return `${FINGERPRINT_VERSION}:${digest}`;
}
