/** The allocation of one benchmark's job: its `#SBATCH` directives and the nodes of each pool. */
import type { Problem } from "../errors.ts";
import type { ExtraDirectives, SlurmConfig, SubmitConfig } from "../submit/config.ts";
import { parseDuration } from "../submit/duration.ts";
import { type NodeRange, onlyCompute, poolNodes } from "../submit/nodes.ts";
import { variablePart } from "../submit/rules/names.ts";
import type { Directive, JobVariable } from "./model.ts";

/** Seconds between the warning and the time limit: a minute, and a minute for the driver to stop in. */
const WARNING_LEAD = 120;

/** Most characters of a job name that Slurm takes, and of any value that its script reader can hold. */
const LONGEST_NAME = 1024;
const LONGEST_VALUE = 4096;

interface Extra {
	readonly key: string;
	readonly value: ExtraDirectives extends ReadonlyMap<string, infer V> ? V : never;
	readonly at: string;
}

function extras(compute: SlurmConfig, at: string): readonly Extra[] {
	const list = (map: ExtraDirectives, below: string): Extra[] =>
		[...map].map(([key, value]) => ({ key, value, at: `${below}.${key}` }));
	return [
		...list(compute.extra_args, `${at}.extra_args`),
		...[...compute.node_pools].flatMap(([name, pool]) =>
			list(pool.extra_args, `${at}.node_pools.${name}.extra_args`),
		),
	];
}

/**
 * Seconds before the limit at which Slurm is asked for the warning; null for none. Slurm sends it up to a
 * minute early, so in a job of a few minutes it comes closer to the end, and below two minutes it would
 * come at once.
 */
function warningLead(walltime: string | null): number | null {
	const seconds = walltime === null ? null : parseDuration(walltime);
	if (seconds === null || seconds === 0) return WARNING_LEAD;
	if (seconds < 120) return null;
	return Math.min(WARNING_LEAD, Math.floor(seconds / 6));
}

/** What the document's own fields ask for. */
function ownDirectives(benchmark: string, compute: SlurmConfig): readonly Directive[] {
	const pools = [...compute.node_pools.values()];
	const [pool] = pools;
	const list: (readonly [string, string | number | null | undefined])[] = [
		["job-name", `gym-${benchmark}`],
		["account", compute.account],
		["time", compute.walltime],
		["partition", pool?.partition],
		["nodes", pool && pools.reduce((sum, { nodes }) => sum + nodes, 0)],
		["ntasks-per-node", pool?.ntasks_per_node],
		["gpus-per-node", pool?.gpus_per_node],
	];
	return list.flatMap(([key, value]) =>
		value === null || value === undefined ? [] : [{ key, value: String(value) }],
	);
}

/** Every directive but `chdir`; a user's job name takes the place of ours, equal keys of pools come once. */
export function directives(benchmark: string, compute: SlurmConfig): readonly Directive[] {
	const lead = warningLead(compute.walltime);
	const user = new Map(
		extras(compute, "")
			.filter(({ value }) => value !== false && value !== null)
			.map(({ key, value }) => [key, value === true ? null : String(value)]),
	);
	const safety: readonly Directive[] = [
		{ key: "output", value: "logs/slurm-%j.log" },
		{ key: "open-mode", value: "append" },
		{ key: "no-requeue", value: null },
		...(lead === null ? [] : [{ key: "signal", value: `B:USR1@${lead}` }]),
	];
	return [
		...[...ownDirectives(benchmark, compute), ...safety].filter(({ key }) => !user.has(key)),
		...[...user].map(([key, value]) => ({ key, value })),
	];
}

/** Number of nodes: the sum over pools, else what `extra_args.nodes` asks for, else one. */
export function nodeCount(compute: SlurmConfig): number {
	if (compute.node_pools.size > 0)
		return [...compute.node_pools.values()].reduce((sum, { nodes }) => sum + nodes, 0);
	return Number(compute.extra_args.get("nodes") ?? 1);
}

/** `GYM_POOL_<NAME>_NODES` of each pool, in the order they own the allocation. */
export function poolVariables(compute: SlurmConfig): readonly JobVariable[] {
	let first = 0;
	return [...compute.node_pools].map(([name, { nodes }]) => {
		const hosts = { first, count: nodes };
		first += nodes;
		return { name: `GYM_POOL_${variablePart(name)}_NODES`, kind: "hosts", hosts };
	});
}

/** The nodes of a service: its pool's, else the allocation's, which may have more than its pools say. */
export function serviceNodes(config: SubmitConfig, pool: string | null): NodeRange {
	const [, compute] = onlyCompute(config);
	const range = poolNodes(config, pool)!;
	return pool === null && compute.type === "slurm" ? { ...range, count: nodeCount(compute) } : range;
}

function extraProblem({ key, value, at }: Extra, fields: ReadonlySet<string>): Problem | null {
	if (value === false || value === null) return null;
	const refuse = (code: string, message: string, remedy: string): Problem => ({
		code,
		severity: "error",
		at,
		message,
		remedy,
	});
	if (fields.has(key)) return refuse("directive-twice", `${key} has a field of its own`, "use the field");
	const text = String(value);
	const limit = key === "job-name" ? LONGEST_NAME : LONGEST_VALUE;
	if (text.length > limit)
		return refuse("directive-long", `${key} is ${text.length} characters long`, `at most ${limit}`);
	if (key === "nodes" && !/^[1-9][0-9]{0,5}$/.test(text)) {
		return refuse("directive-nodes", "the number of nodes must be one fixed number", "write a whole number");
	}
	return null;
}

/** Extra directives that another one or a field of the document would contradict, or that Slurm cannot carry. */
export function allocationProblems(compute: SlurmConfig, at: string): readonly Problem[] {
	const fields = new Set(ownDirectives("", compute).map(({ key }) => key));
	fields.delete("job-name");
	const ofCompute = new Map([...compute.extra_args].map(([key, value]) => [key, String(value)]));
	return extras(compute, at).flatMap((extra): readonly Problem[] => {
		const problem = extraProblem(extra, fields);
		if (problem) return [problem];
		const other = ofCompute.get(extra.key);
		if (other === undefined || other === String(extra.value)) return [];
		const message = `${extra.key} is ${JSON.stringify(extra.value)} here and ${JSON.stringify(other)} for the whole job`;
		return [
			{ code: "directive-twice", severity: "error", at: extra.at, message, remedy: "one job has one value" },
		];
	});
}
