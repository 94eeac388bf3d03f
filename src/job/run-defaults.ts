/** What `gym eval run` gets beside the user's own `run`; the user's value always wins. */
import type { Value } from "../submit/config.ts";
import type { Argument } from "./model.ts";

/** One default: a plain value, or a path below the benchmark's directory. */
export interface RunDefault {
	readonly key: string;
	readonly value: Value | { readonly below: string };
}

/**
 * The defaults that a benchmark's `run` does not set itself.
 * @param options.fromCache go on from what an earlier attempt left
 */
export function runDefaults(
	run: ReadonlyMap<string, Value>,
	options: { readonly fromCache: boolean },
): readonly RunDefault[] {
	const observed = run.has("observability_enabled") ? run.get("observability_enabled") === true : true;
	const defaults: readonly RunDefault[] = [
		{ key: "output_jsonl_fpath", value: { below: "artifacts/rollouts.jsonl" } },
		{ key: "require_complete", value: true },
		{ key: "observability_enabled", value: true },
		...(observed ? [{ key: "model_call_capture_dir", value: { below: "model-calls" } }] : []),
		...(options.fromCache ? [{ key: "resume_from_cache", value: true }] : []),
	];
	return defaults.filter(({ key }) => !run.has(key));
}

/** A default as an override; a path is quoted for Hydra (output paths hold neither quotes nor backslashes). */
export function defaultArgument({ key, value }: RunDefault): Argument {
	if (typeof value === "object" && value !== null && "below" in value) {
		return { before: `+${key}="`, below: value.below, after: '"' };
	}
	return `+${key}=${String(value)}`;
}
