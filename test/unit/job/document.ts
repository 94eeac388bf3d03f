/** A small submit document for tests of jobs, and the way from it to a job. */
import { type BuiltJob, buildJob } from "../../../src/job/build.ts";
import type { Job } from "../../../src/job/model.ts";
import { renderJob } from "../../../src/job/render.ts";
import type { SubmitConfig } from "../../../src/submit/config.ts";
import { validateDocument } from "../../../src/submit/validate.ts";

/** A mapping of the raw document. */
export const map = (entries: object): ReadonlyMap<string, unknown> => new Map(Object.entries(entries));

/** Parts of the document that a test changes. */
export interface Parts {
	readonly service?: object;
	readonly services?: ReadonlyMap<string, unknown>;
	readonly compute?: object;
	/** Processes of this machine instead of Slurm; then there are no pools. */
	readonly local?: boolean;
	readonly pools?: ReadonlyMap<string, unknown>;
	readonly driver?: object;
	readonly benchmark?: object;
	readonly outputPath?: string;
	readonly otel?: ReadonlyMap<string, unknown>;
}

/** The raw document: one service, one pool of one node with four GPUs, one benchmark called `sums`. */
export function document(parts: Parts = {}): ReadonlyMap<string, unknown> {
	const speaker = map({
		type: "vllm",
		container: "registry.lab/serve:2.1",
		model: "acme/talker",
		tensor_parallel_size: 4,
		...parts.service,
	});
	const pools = parts.pools ?? map({ front: map({ partition: "batch", gpus_per_node: 4 }) });
	return map({
		services: parts.services ?? map({ speaker }),
		compute: map({
			north: parts.local
				? map({ type: "local", ...parts.compute })
				: map({ type: "slurm", account: "lab-07", node_pools: pools, ...parts.compute }),
		}),
		driver: map({
			policy_model: parts.services ? null : "speaker",
			benchmarks: map({ sums: map(parts.benchmark ?? { run: map({ split: "dev" }) }) }),
			...parts.driver,
		}),
		job: map({ output_path: parts.outputPath ?? "/lake/evals" }),
		otel: parts.otel ?? map({ enabled: false }),
	});
}

/** The validated document; null when it was refused, with the problems. */
export function validated(parts: Parts = {}): ReturnType<typeof validateDocument> {
	return validateDocument(document(parts), { hostEnv: () => "value", missingHost: "error" });
}

/** The validated document of a test that expects no error. */
export function config(parts: Parts = {}): SubmitConfig {
	const { config, problems } = validated(parts);
	if (config === null) throw new Error(JSON.stringify(problems));
	return config;
}

/** The job of `sums`, or why there is none. */
export function built(parts: Parts = {}): BuiltJob {
	return buildJob(config(parts), "sums", { stack: "lab" });
}

/** The job of a test that expects no error. */
export function job(parts: Parts = {}): Job {
	const { job, problems } = built(parts);
	if (job === null) throw new Error(JSON.stringify(problems));
	return job;
}

/** Text of the rendered `job.sh`. */
export function script(parts: Parts = {}, runDir = "/lake/evals/run-1"): string {
	return renderJob(job(parts), { runDir, toolVersion: "1.2.3" }).files.get("job.sh")!.text;
}

/** Paths and codes of the errors. */
export function errors({ problems }: { readonly problems: BuiltJob["problems"] }): readonly string[] {
	return problems.filter(({ severity }) => severity === "error").map(({ at, code }) => `${at} ${code}`);
}
