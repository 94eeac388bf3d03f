/** `compute`: the one cluster that the jobs run on. */
import * as z from "zod";
import { isFloat } from "../float.ts";
import { checked } from "./issue.ts";
import { asObject, env, named, struct } from "./mapping.ts";
import { count, duration, line, variableName } from "./scalar.ts";

/** A directive's value; of a float only its text counts. */
const directive = z.preprocess(
	(value) => (isFloat(value) ? String(value) : value),
	z.union([z.string(), z.number(), z.boolean(), z.null()]),
);

const directives = () =>
	named(directive)
		.default(() => new Map())
		.describe("Extra #SBATCH directives without dashes; true: the flag alone, false or null: left out");

const nodePool = struct({
	partition: line().describe("Slurm partition"),
	nodes: count(1).default(1).describe("Number of nodes"),
	ntasks_per_node: count(1).default(1).describe("Tasks per node"),
	gpus_per_node: count()
		.nullable()
		.default(null)
		.describe("GPUs per node; also checked against what vLLM needs"),
	extra_args: directives(),
});

const hostname = checked(line(), (host) =>
	/^-|\s/.test(host)
		? { code: "bad-hostname", message: `${JSON.stringify(host)} is not a host name` }
		: undefined,
);

const walltime = duration()
	.nullable()
	.default(null)
	.describe("Time limit of one job, Slurm's grammar; null: none asked for");

const slurm = z.strictObject({
	type: z.literal("slurm").describe("A Slurm cluster"),
	account: line().describe("Slurm account"),
	hostname: hostname.nullable().default(null).describe("Login node to reach by SSH; null: sbatch runs here"),
	walltime,
	forward_env: z
		.array(variableName())
		.default(() => [])
		.describe("Variables of the submitting shell that sbatch gets"),
	node_pools: named(nodePool)
		.default(() => new Map())
		.describe("Named groups of nodes, in the order they own the allocation"),
	extra_args: directives(),
});

const local = z.strictObject({
	type: z.literal("local").describe("Processes on this machine (not known to the peer)"),
	walltime,
	env: env(),
});

/** The mapping of compute resources: exactly one. */
export const compute = checked(
	named(z.preprocess(asObject, z.discriminatedUnion("type", [slurm, local]))),
	(entries) =>
		entries.size === 1
			? undefined
			: {
					code: "one-compute",
					message: `there must be exactly one compute resource, found ${entries.size}`,
					remedy: "one submit document is for one cluster; write a second document for another",
				},
).describe("The cluster, under a name of your choice");
