/** The allocation of one benchmark's job: its `#SBATCH` directives and the nodes of each pool. */
import type { Problem } from "../errors.ts";
import type { ExtraDirectives, SlurmConfig } from "../submit/config.ts";
import { parseDuration } from "../submit/duration.ts";
import type { Directive, PoolRange } from "./model.ts";
import { variablePart } from "./names.ts";

/** Seconds between the warning and the time limit: a minute, and a minute for the driver to stop in. */
export const WARNING_LEAD = 120;

/** Keys that decide whether a job runs once and is found again. */
const OURS = new Set(
	"chdir array hold dependency parsable requeue no-requeue signal wait wrap test-only".split(" "),
);
/** Most characters of a value: Slurm's own limit where it has one, else what its script reader can hold. */
const LONGEST = { comment: 1024, "job-name": 1024 } as Readonly<Record<string, number>>;
const LONGEST_OTHER = 4096;

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
export function warningLead(walltime: string | null): number | null {
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
	return list.flatMap(([key, value]) => (value === null || value === undefined ? [] : [{ key, value: String(value) }]));
}

/** Every directive but `chdir`; a user's job name takes the place of ours, equal keys of pools come once. */
export function directives(benchmark: string, compute: SlurmConfig): readonly Directive[] {
	const lead = warningLead(compute.walltime);
	const user = new Map(
		extras(compute, "")
			.filter(({ value }) => value !== false && value !== null)
			.map(({ key, value }) => [key, value === true ? null : String(value)]),
	);
	// Without pools the user's own directives size the allocation, else Slurm's default of one node does.
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
	if (compute.node_pools.size > 0) return [...compute.node_pools.values()].reduce((sum, { nodes }) => sum + nodes, 0);
	return Number(compute.extra_args.get("nodes") ?? 1);
}

/** The nodes of each pool, in the order they own the allocation. */
export function poolRanges(compute: SlurmConfig): readonly PoolRange[] {
	let first = 0;
	return [...compute.node_pools].map(([name, { nodes }]) => {
		const range = { variable: `GYM_POOL_${variablePart(name)}_NODES`, hosts: { first, count: nodes } };
		first += nodes;
		return range;
	});
}

function extraProblem({ key, value, at }: Extra, taken: ReadonlySet<string>): Problem | null {
	const refuse = (code: string, message: string, remedy: string): Problem => ({
		code,
		severity: "error",
		at,
		message,
		remedy,
	});
	if (!/^[A-Za-z][A-Za-z0-9-]+$/.test(key)) {
		return refuse("directive-name", `${JSON.stringify(key)} is not a long option of sbatch`, "write it without dashes");
	}
	if (OURS.has(key)) return refuse("directive-ours", `${key} is set by the job itself`, "leave it out");
	if (value === false || value === null) return null;
	if (taken.has(key)) return refuse("directive-twice", `${key} has a field of its own`, "use the field");
	const text = String(value);
	if (/[\0-\x1f\x7f]/.test(text)) {
		return refuse("directive-line-break", `the value of ${key} holds a line break or control character`, "use one line");
	}
	const limit = LONGEST[key] ?? LONGEST_OTHER;
	if (text.length > limit) return refuse("directive-long", `${key} is ${text.length} characters long`, `at most ${limit}`);
	if (key === "nodes" && !/^[1-9][0-9]*$/.test(text)) {
		return refuse("directive-nodes", "the number of nodes must be one fixed number", "write a whole number");
	}
	return null;
}

/** What Slurm could not carry, and directives set twice. */
export function allocationProblems(compute: SlurmConfig, at: string): readonly Problem[] {
	const taken = new Set(ownDirectives("x", compute).map(({ key }) => key));
	taken.delete("job-name");
	const seen = new Map<string, Extra>();
	const variables = new Map<string, string>();
	const problems: Problem[] = [];
	for (const extra of extras(compute, at)) {
		const problem = extraProblem(extra, taken);
		const before = seen.get(extra.key);
		if (problem) problems.push(problem);
		else if (before && before.value !== extra.value) {
			problems.push({
				code: "directive-differs",
				severity: "error",
				at: extra.at,
				message: `${extra.key} is ${JSON.stringify(extra.value)} here and ${JSON.stringify(before.value)} at ${before.at}`,
				remedy: "one job has one value",
			});
		}
		seen.set(extra.key, extra);
	}
	for (const name of compute.node_pools.keys()) {
		const variable = variablePart(name);
		const other = variables.get(variable);
		if (other !== undefined) {
			problems.push({
				code: "pool-variable",
				severity: "error",
				at: `${at}.node_pools.${name}`,
				message: `the pools ${JSON.stringify(other)} and ${JSON.stringify(name)} would both be exported as GYM_POOL_${variable}_NODES`,
				remedy: "rename one of them",
			});
		}
		variables.set(variable, name);
	}
	for (const [field, value] of [
		["account", compute.account],
		...[...compute.node_pools].map(([name, pool]) => [`node_pools.${name}.partition`, pool.partition] as const),
	] as const) {
		if (/[\0-\x1f\x7f]/.test(value)) {
			problems.push({
				code: "directive-line-break",
				severity: "error",
				at: `${at}.${field}`,
				message: "the value holds a line break or control character, which no directive can carry",
			});
		}
	}
	return problems;
}
