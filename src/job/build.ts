/** From the validated submit document to the job of one benchmark. */
import type { Problem } from "../errors.ts";
import type { ComputeConfig, SubmitConfig } from "../submit/config.ts";
import { onlyCompute, poolNodes } from "../submit/nodes.ts";
import { checkPools } from "../submit/rules/pools.ts";
import { allocationProblems, directives, nodeCount, poolRanges } from "./allocation.ts";
import { commandProblems, lengthProblems, nulProblems, outputPathProblems } from "./checks.ts";
import { envEntries, envProblems } from "./env.ts";
import type { Job, ServiceStep, StepBase } from "./model.ts";
import { stepNames } from "./names.ts";
import { driverProblems, driverStep } from "./shapes/driver.ts";
import { notYetProblems } from "./shapes/not-yet.ts";
import { vllmProblems, vllmStep } from "./shapes/vllm.ts";

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
		...notYetProblems(config, benchmark),
		...nulProblems(config),
		...outputPathProblems(config.job.output_path),
		...checkPools(config),
		...(compute.type === "slurm" ? allocationProblems(compute, `compute.${name}`) : []),
		...[...config.services].flatMap(([key, service]) => [
			...envProblems(service.env, `services.${key}.env`),
			...(service.type === "vllm" ? vllmProblems(service, `services.${key}`) : []),
		]),
		...envProblems(driver.env, "driver.env"),
		...(command === null ? [] : commandProblems(command, `driver.benchmarks.${benchmark}.command`)),
		...driverProblems(config, benchmark, driver.benchmarks.get(benchmark)!),
	];
}

function failed(problems: readonly Problem[]): boolean {
	return problems.some(({ severity }) => severity === "error");
}

/** A local compute has no directives, no pools, and one node. */
function allocation(
	benchmark: string,
	compute: ComputeConfig,
): Pick<Job, "platform" | "directives" | "nodes" | "pools"> {
	if (compute.type === "local") return { platform: "local", directives: [], nodes: 1, pools: [] };
	return {
		platform: "slurm",
		directives: directives(benchmark, compute),
		nodes: nodeCount(compute),
		pools: poolRanges(compute),
	};
}

/** The environment of a local compute is that of all its steps; a step's own wins. */
function withComputeEnv<Step extends StepBase>(step: Step, compute: ComputeConfig): Step {
	if (compute.type === "slurm") return step;
	const own = new Set(step.env.map(({ name }) => name));
	return { ...step, env: [...envEntries(compute.env).filter(({ name }) => !own.has(name)), ...step.env] };
}

/**
 * The job of one benchmark of a validated document, and everything found on the way.
 * @param options.stack name of the stack, for the address
 * @param options.resumed a further attempt in the same directory: Gym goes on from its cache (default false)
 */
export function buildJob(
	config: SubmitConfig,
	benchmark: string,
	options: { readonly stack: string; readonly resumed?: boolean },
): BuiltJob {
	const found = problemsOf(config, benchmark);
	const [, compute] = onlyCompute(config);
	if (failed(found)) return { job: null, problems: found };
	const names = stepNames([...config.services.keys()]);
	const services = [...config.services].flatMap(([key, service], i): ServiceStep[] =>
		service.type === "vllm"
			? [vllmStep(names[i]!, `services.${key}`, service, poolNodes(config, service.node_pool)!)]
			: [],
	);
	const driver = driverStep(config, config.driver.benchmarks.get(benchmark)!, options.resumed ?? false);
	const job: Job = {
		address: `${options.stack}/${benchmark}`,
		benchmark,
		...allocation(benchmark, compute),
		services: services.map((step) => withComputeEnv(step, compute)),
		driver: withComputeEnv(driver, compute),
	};
	const problems = [...found, ...lengthProblems(services, driver)];
	return { job: failed(problems) ? null : job, problems };
}
