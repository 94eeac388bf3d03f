/**
 * What rules can still judge of a document that is malformed in some places. A malformed part is left out, or
 * gives way to a stand-in in which no rule finds anything: nothing is found that only follows from it.
 */
import type { Path } from "./path.ts";

/** A raw document without its malformed parts. */
export interface SoundPart {
	readonly raw: ReadonlyMap<string, unknown>;
	/** Names of services that may be referred to, but are not in this part. */
	readonly leftOut: ReadonlySet<string>;
}

/** Stands for a policy that is not known; no service may have this name. */
const SOME_SERVICE = "/";

const DRIVER: readonly (readonly [string, unknown])[] = [
	["policy_model", SOME_SERVICE],
	["gym_install", new Map([["ref", "some"]])],
];
const BENCHMARKS = new Map([["some", new Map()]]);
const JOB = new Map([["output_path", "/"]]);
const OTEL = new Map([["enabled", false]]);

function without(mapping: unknown, names: ReadonlySet<unknown>): ReadonlyMap<string, unknown> {
	return new Map(mapping instanceof Map ? [...mapping].filter(([name]) => !names.has(name)) : []);
}

/**
 * The part of `raw` that is sound, `malformed` being the paths of what is not. Null when too little is left
 * to judge: most rules look at the nodes, so `compute` has to be sound.
 */
export function soundPart(raw: ReadonlyMap<string, unknown>, malformed: readonly Path[]): SoundPart | null {
	const below = (...above: readonly string[]) => {
		const inside = malformed.filter((path) => above.every((step, i) => path[i] === step));
		return new Set(inside.map((path) => path[above.length]));
	};
	const services = below("services");
	const sections = below();
	const known = [...sections].every((name) => ["services", "driver", "job", "otel"].includes(String(name)));
	if (!known || services.has(undefined)) return null;

	const given = raw.get("driver");
	const benchmarks = without(given instanceof Map && given.get("benchmarks"), below("driver", "benchmarks"));
	const replaced = [...below("driver")].some((key) => key !== "benchmarks");
	const driver = replaced || !(given instanceof Map) ? DRIVER : [...given];
	return {
		raw: new Map([
			...raw,
			["services", without(raw.get("services"), services)],
			["driver", new Map([...driver, ["benchmarks", benchmarks.size > 0 ? benchmarks : BENCHMARKS]])],
			...(sections.has("job") ? [["job", JOB] as const] : []),
			...(sections.has("otel") ? [["otel", OTEL] as const] : []),
		]),
		leftOut: new Set(replaced ? [SOME_SERVICE] : [...services].map(String)),
	};
}
