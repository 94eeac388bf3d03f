/** A Ray cluster: the head on the driver's node, a worker on every other node of the spanned pools. */
import type { RayConfig } from "../../submit/config.ts";
import type { NodeRange } from "../../submit/nodes.ts";
import { variablePart } from "../../submit/rules/names.ts";
import type { JobVariable } from "../model.ts";
import { WITHOUT } from "../script/arguments.ts";
import { quoteAll } from "../script/quote.ts";
import { RAY_HEAD_ANSWERS } from "../script/ray.ts";
import { afterPreCommand, commonParts, healthOn, onNode, type StepDraft } from "./step-draft.ts";

/** Options that only the head of a cluster takes. */
const HEAD_ONLY = "--port --redis-shard-ports --include-dashboard";

/** A spanned pool and its nodes. */
export interface RayPool {
	readonly name: string;
	readonly range: NodeRange;
}

/** The pool's nodes but for the head's. */
function workersOf({ range }: RayPool, head: number): { readonly first: number; readonly count: number } {
	const holdsHead = head >= range.first && head < range.first + range.count;
	// The head is the first node of its pool, as the driver's node is.
	return holdsHead
		? { first: range.first + 1, count: range.count - 1 }
		: { first: range.first, count: range.count };
}

function resourceWords(service: RayConfig, pool: string | null): readonly string[] {
	const own = pool === null ? undefined : service.resources.get(pool);
	return [
		...(service.num_cpus === null ? [] : ["--num-cpus", String(service.num_cpus)]),
		...(service.num_gpus === null ? [] : ["--num-gpus", String(service.num_gpus)]),
		...(own === undefined || own.size === 0
			? []
			: [`--resources=${JSON.stringify(Object.fromEntries(own))}`]),
	];
}

const verbatim = ({ extra_args }: RayConfig) => (extra_args.trim() === "" ? "" : ` ${extra_args.trim()}`);

function headScript(service: RayConfig, pool: string | null): string {
	const words = ["--block", "--head", "--port", String(service.port)];
	const start = `exec ray start ${quoteAll(words)} --node-ip-address "$gym_head" ${quoteAll(resourceWords(service, pool))}${verbatim(service)}`;
	return `gym_head=$1\n${afterPreCommand(service, start)}`;
}

function workerScript(service: RayConfig, pool: string): string {
	const start = `${RAY_HEAD_ANSWERS}
${WITHOUT}
start() {
	without ${quoteAll([HEAD_ONLY])} "$@"
	exec ray start --block --address "$gym_head:${service.port}" "\${kept[@]}"
}
head_answers "$gym_head:${service.port}" || exit
start ${quoteAll(resourceWords(service, pool))}${verbatim(service)}`;
	return `gym_head=$1\n${afterPreCommand(service, start)}`;
}

/** The steps of a `ray` service: the head, then the workers of each pool that has any. */
export function raySteps(
	name: string,
	at: string,
	service: RayConfig,
	pools: readonly RayPool[],
	head: number,
): readonly StepDraft[] {
	const home = pools.find((pool) => workersOf(pool, head).count < pool.range.count)?.name ?? null;
	const common = { ...commonParts(service, at), addresses: [head] };
	const workers = pools.map((pool) => ({ pool: pool.name, hosts: workersOf(pool, head) }));
	return [
		{
			...common,
			name,
			hosts: onNode(head),
			script: headScript(service, home),
			health: healthOn(head, service.health_check, service.port),
		},
		...workers
			.filter(({ hosts }) => hosts.count > 0)
			.map(({ pool, hosts }) => ({
				...common,
				name: `${name}-${pool}-workers`,
				hosts,
				script: workerScript(service, pool),
				health: null,
			})),
	];
}

/** What the job tells of the cluster: `GYM_RAY_ADDRESS_<SERVICE>` and `GYM_RAY_<SERVICE>_<POOL>_WORKERS`. */
export function rayVariables(
	name: string,
	service: RayConfig,
	pools: readonly RayPool[],
	head: number,
): readonly JobVariable[] {
	const part = variablePart(name);
	return [
		{ name: `GYM_RAY_ADDRESS_${part}`, kind: "address", node: head, port: service.port },
		...pools.map(
			(pool): JobVariable => ({
				name: `GYM_RAY_${part}_${variablePart(pool.name)}_WORKERS`,
				kind: "hosts",
				hosts: workersOf(pool, head),
			}),
		),
	];
}
