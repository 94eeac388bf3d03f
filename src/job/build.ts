/** From the validated submit document to the job of one benchmark. */
import type { Problem } from "../errors.ts";
import type { BenchmarkConfig, ComputeConfig, ServiceConfig, SubmitConfig } from "../submit/config.ts";
import { limitSeconds } from "../submit/duration.ts";
import { onlyCompute } from "../submit/nodes.ts";
import { parts } from "../submit/parts.ts";
import { resumableLimits } from "../submit/resumable.ts";
import { checkPools } from "../submit/rules/pools.ts";
import { allocationProblems, directives, nodeCount, poolVariables } from "./allocation.ts";
import { commandProblems, lengthProblems, nulProblems, outputPathProblems } from "./checks.ts";
import { envEntries, envProblems } from "./env.ts";
import type { Chain, Job, ServiceStep, StepBase } from "./model.ts";
import { stepNames } from "./names.ts";
import { collectorOf, collectorVariables } from "./shapes/collector.ts";
import { driverProblems, driverStep } from "./shapes/driver.ts";
import { serviceSteps, serviceVariables } from "./shapes/services.ts";
import { vllmProblems } from "./shapes/vllm.ts";

/** A job, unless some problem is an error. */
export interface BuiltJob {
	readonly job: Job | null;
	readonly problems: readonly Problem[];
}

function problemsOf(config: SubmitConfig, benchmark: string): readonly Problem[] {
	const [name, compute] = onlyCompute(config);
	const { driver } = config;
	const { command } = driver.benchmarks.get(benchmark)!;
	return [
		...nulProblems(config),
		...outputPathProblems(config.job.output_path),
		...checkPools(config),
		...(compute.type === "slurm" ? allocationProblems(compute, `compute.${name}`) : []),
		...parts(config).flatMap(({ path, part }) => envProblems(part.env, `${path.join(".")}.env`)),
		...[...config.services].flatMap(([key, service]) => extraArgsProblems(service, `services.${key}`)),
		...(command === null ? [] : commandProblems(command, `driver.benchmarks.${benchmark}.command`)),
		...driverProblems(config, benchmark, driver.benchmarks.get(benchmark)!),
	];
}

/** Every text that users wrote for a command line. */
function extraArgsProblems(service: ServiceConfig, at: string): readonly Problem[] {
	if (service.type !== "vllm_pd") return vllmProblems(service, at);
	return (["prefill", "decode"] as const).flatMap((tier) => vllmProblems(service[tier], `${at}.${tier}`));
}

function failed(problems: readonly Problem[]): boolean {
	return problems.some(({ severity }) => severity === "error");
}

/** A local compute has no directives, no pools, and one node. */
function allocation(
	benchmark: string,
	compute: ComputeConfig,
): Pick<Job, "platform" | "directives" | "nodes" | "variables"> {
	if (compute.type === "local") return { platform: "local", directives: [], nodes: 1, variables: [] };
	return {
		platform: "slurm",
		directives: directives(benchmark, compute),
		nodes: nodeCount(compute),
		variables: poolVariables(compute),
	};
}

/** The environment of a local compute is that of all its steps; a step's own wins. */
function withComputeEnv<Step extends StepBase>(step: Step, compute: ComputeConfig): Step {
	if (compute.type === "slurm") return step;
	const own = new Set(step.env.map(({ name }) => name));
	return { ...step, env: [...envEntries(compute.env).filter(({ name }) => !own.has(name)), ...step.env] };
}

/** Progress that is written elsewhere cannot be seen. */
function chainOf({ resumable, run }: BenchmarkConfig, noProgress: number | null): Chain | null {
	const limits = resumableLimits(resumable);
	if (limits === null) return null;
	const isSeen = !run.has("output_jsonl_fpath") && !run.has("model_call_capture_dir");
	return {
		maxRetries: limits.max_retries,
		maxWalltime: limitSeconds(limits.max_walltime),
		noProgress: isSeen ? noProgress : null,
	};
}

/**
 * The job of one benchmark of a validated document, and everything found on the way.
 * @param options.stack name of the stack, for the address
 * @param options.noProgress time limits in a row that a resumable job may reach without progress (default 3; null: any)
 * @param options.resumed a further attempt in the same directory: Gym goes on from its cache (default false)
 */
export function buildJob(
	config: SubmitConfig,
	benchmark: string,
	options: { readonly stack: string; readonly resumed?: boolean; readonly noProgress?: number | null },
): BuiltJob {
	const found = problemsOf(config, benchmark);
	const [, compute] = onlyCompute(config);
	if (failed(found)) return { job: null, problems: found };
	const collector = collectorOf(config, benchmark);
	const drafts = serviceSteps(config);
	const names = stepNames(drafts.map(({ name }) => name));
	const services = drafts.map(({ name: _, ...draft }, i): ServiceStep => ({ ...names[i]!, ...draft }));
	const { variables, ...rest } = allocation(benchmark, compute);
	const driver = driverStep(config, config.driver.benchmarks.get(benchmark)!, options.resumed ?? false);
	const job: Job = {
		address: `${options.stack}/${benchmark}`,
		benchmark,
		...rest,
		collector,
		variables: [
			...serviceVariables(config),
			...variables,
			...(collector === null ? [] : collectorVariables(collector)),
		],
		services: services.map((step) => withComputeEnv(step, compute)),
		driver: withComputeEnv(driver, compute),
		chain: chainOf(
			config.driver.benchmarks.get(benchmark)!,
			options.noProgress === undefined ? 3 : options.noProgress,
		),
	};
	const problems = [...found, ...lengthProblems(services, driver)];
	return { job: failed(problems) ? null : job, problems };
}
