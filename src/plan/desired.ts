/** From one validated stack to what its benchmarks' jobs should be. Pure. */
import type { Problem } from "../errors.ts";
import type { Lifecycle } from "../io.ts";
import { buildJob } from "../job/build.ts";
import type { Job } from "../job/model.ts";
import { PLACEHOLDER_RUN_ID, renderJob } from "../job/render.ts";
import type { BenchmarkConfig, SourceMap, SubmitConfig } from "../submit/config.ts";
import { limitSeconds } from "../submit/duration.ts";
import { benchmarkDocument, fingerprint } from "../submit/fingerprint.ts";
import { resumableLimits } from "../submit/resumable.ts";
import type { Adoption } from "./adopt.ts";
import type { Desired, JobSize, Plan } from "./plan.ts";

/** One benchmark as the gymfile wants it, with the job model that apply renders again for its run directory. */
export interface DesiredJob extends Desired {
	readonly job: Job;
	/** The same as a further attempt in the same directory. */
	readonly resumedJob: Job;
}

/** A plan with the job models that apply needs: what is shown is what is applied. */
export interface PreparedPlan extends Plan {
	readonly jobs: ReadonlyMap<string, DesiredJob>;
	/** Runs that the state does not know. */
	readonly found: ReadonlyMap<string, Adoption>;
}

/** Seconds that a chain may take in all; null without a cap, undefined when there is no chain. */
function chainCap({ resumable }: BenchmarkConfig): number | null | undefined {
	const limits = resumableLimits(resumable);
	return limits === null ? undefined : limitSeconds(limits.max_walltime);
}

function sizeOf(config: SubmitConfig, benchmark: BenchmarkConfig): JobSize {
	const [compute] = config.compute.values();
	const cap = chainCap(benchmark);
	if (!compute) throw new Error("a validated document has a compute entry");
	const walltime = limitSeconds(compute.walltime);
	if (compute.type === "local") return { nodes: 1, gpusPerNode: null, walltime, partition: null };
	const pools = [...compute.node_pools.values()];
	return {
		nodes: pools.length ? pools.reduce((sum, pool) => sum + pool.nodes, 0) : 1,
		gpusPerNode: pools[0]?.gpus_per_node ?? null,
		walltime,
		partition: pools[0]?.partition ?? null,
		...(cap === undefined ? {} : { chainCap: cap }),
	};
}

/**
 * What every benchmark of a stack should be.
 * @param options.toolVersion version named at the top of the script; not part of the fingerprint
 */
export function desiredJobs(
	config: SubmitConfig,
	options: {
		stack: string;
		toolVersion: string;
		sources?: SourceMap;
		lifecycle?: ReadonlyMap<string, Lifecycle>;
	},
): { desired: readonly DesiredJob[]; problems: readonly Problem[] } {
	const desired: DesiredJob[] = [];
	const problems = new Map<string, Problem>();
	for (const [benchmark, wanted] of config.driver.benchmarks) {
		const lifecycle = options.lifecycle?.get(benchmark);
		// A submit YAML has no lifecycle: the job's own default holds.
		const limit = lifecycle ? { noProgress: lifecycle.noProgressLimit } : {};
		const built = buildJob(config, benchmark, { stack: options.stack, ...limit });
		// A service is part of every benchmark's job: say once what is wrong with it.
		for (const problem of built.problems) problems.set(JSON.stringify(problem), problem);
		const again = buildJob(config, benchmark, { stack: options.stack, resumed: true, ...limit }).job;
		if (!built.job || !again) continue;
		const runDir = `${config.job.output_path.replace(/\/+$/, "")}/${PLACEHOLDER_RUN_ID}`;
		const files = renderJob(built.job, { runDir, toolVersion: options.toolVersion }).files;
		const document = benchmarkDocument(config, benchmark);
		desired.push({
			benchmark,
			job: built.job,
			resumedJob: again,
			document,
			fingerprint: fingerprint(document),
			rendered: Object.fromEntries([...files].map(([name, file]) => [name, file.text])),
			size: sizeOf(config, wanted),
			limits: built.job.chain,
			...(options.sources ? { sources: options.sources } : {}),
			...(lifecycle?.onChange === "replace" ? { onChange: "replace" as const } : {}),
		});
	}
	const located = [...problems.values()].map((problem) => {
		const found = options.sources?.locate(problem.at.split("."));
		return { ...problem, ...found };
	});
	return { desired, problems: located };
}
