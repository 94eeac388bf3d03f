/** How much a changed path of the submit document matters: one table, first match wins, else `results`. */
import type { ChangeClass } from "./plan.ts";

/**
 * Patterns over document paths: `*` is any one step, a last `**` any number of steps (none included).
 * What is not listed could change what the model answers, so it counts as `results`.
 */
const TABLE: readonly (readonly [ChangeClass, readonly string[]])[] = [
	[
		"cosmetic",
		[
			"otel.**",
			"job.output_path",
			"compute.*.extra_args.comment",
			"compute.*.extra_args.job-name",
			"compute.*.extra_args.mail-type",
			"compute.*.extra_args.mail-user",
			"compute.*.extra_args.wckey",
			"services.*.log_level",
		],
	],
	[
		"speed",
		[
			"services",
			"services.*.placement",
			"services.*.node_pool",
			"services.*.node_pools.**",
			"services.*.port",
			"services.*.health_check.**",
			"services.*.tensor_parallel_size",
			"services.*.pipeline_parallel_size",
			"services.*.number_of_instances",
			"services.*.use_ray_serve",
			"services.*.data_parallel_rpc_port",
			"services.*.server_per_node",
			"services.*.nixl_side_channel_port",
			"services.*.prefill_policy",
			"services.*.decode_policy",
			"services.*.intra_node_data_parallel_size",
			"services.*.request_timeout_secs",
			"services.*.num_cpus",
			"services.*.num_gpus",
			"services.*.resources.**",
			...["prefill", "decode"].flatMap((tier) => [
				`services.*.${tier}.placement`,
				`services.*.${tier}.node_pool`,
				`services.*.${tier}.port`,
				`services.*.${tier}.health_check.**`,
				`services.*.${tier}.tensor_parallel_size`,
				`services.*.${tier}.pipeline_parallel_size`,
				`services.*.${tier}.number_of_instances`,
				`services.*.${tier}.use_ray_serve`,
				`services.*.${tier}.data_parallel_rpc_port`,
			]),
			"compute.*.account",
			"compute.*.walltime",
			"compute.*.node_pools",
			"compute.*.node_pools.*",
			"compute.*.node_pools.*.partition",
			"compute.*.node_pools.*.nodes",
			"compute.*.node_pools.*.ntasks_per_node",
			"compute.*.node_pools.*.gpus_per_node",
			...["compute.*", "compute.*.node_pools.*"].flatMap((owner) => [
				`${owner}.extra_args.begin`,
				`${owner}.extra_args.cpus-per-task`,
				`${owner}.extra_args.exclude`,
				`${owner}.extra_args.exclusive`,
				`${owner}.extra_args.mem`,
				`${owner}.extra_args.nice`,
				`${owner}.extra_args.nodelist`,
				`${owner}.extra_args.qos`,
				`${owner}.extra_args.reservation`,
			]),
			"driver.benchmarks.*.resumable.**",
		],
	],
];

const RULES = TABLE.flatMap(([kind, patterns]) =>
	patterns.map((pattern) => ({ kind, steps: pattern.split(".") })),
);

function matches(steps: readonly string[], path: readonly (string | number)[]): boolean {
	const open = steps.at(-1) === "**";
	const fixed = open ? steps.slice(0, -1) : steps;
	if (open ? path.length < fixed.length : path.length !== fixed.length) return false;
	return fixed.every((step, i) => step === "*" || step === path[i]);
}

/** Limits of a chain: a run is the same under others, and its next segment reads them. */
const LIMIT_PATHS = [
	"driver.benchmarks.*.resumable.max_retries",
	"driver.benchmarks.*.resumable.max_walltime",
];

/** What Slurm can change of a queued job without costing it its place. */
const QUEUED_PATHS = ["compute.*.walltime", "compute.*.extra_args.comment"];

function matcher(patterns: readonly string[]): (path: readonly (string | number)[]) => boolean {
	const all = patterns.map((pattern) => pattern.split("."));
	return (path) => all.some((steps) => matches(steps, path));
}

/** Is it a limit of a resume chain? */
export const isLimit = matcher(LIMIT_PATHS);

/** Can it be changed of a queued job? */
export const isQueuedEdit = matcher(QUEUED_PATHS);

/** The class of a changed path. Total: a path that no rule knows is `results`. */
export function classOf(path: readonly (string | number)[]): ChangeClass {
	return RULES.find((rule) => matches(rule.steps, path))?.kind ?? "results";
}
