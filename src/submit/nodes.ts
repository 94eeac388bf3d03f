/** Which nodes of the allocation a service has, and how a vLLM service is laid out on them. Nodes count from 0. */
import type { ComputeConfig, NodePoolConfig, SubmitConfig, VllmConfig } from "./config.ts";

/** A contiguous range of the allocation's nodes. */
export interface NodeRange {
	readonly first: number;
	readonly count: number;
	/** Least number of GPUs that a node of the range is known to have; null when no pool says. */
	readonly gpusPerNode: number | null;
	/** GPUs of all its nodes together; null when no pool says. */
	readonly gpus: number | null;
}

/** The one compute entry and its name. */
export function onlyCompute(
	config: Pick<SubmitConfig, "compute">,
): readonly [name: string, compute: ComputeConfig] {
	const [entry] = config.compute;
	if (!entry) throw new Error("a validated document has a compute entry");
	return entry;
}

/** The pools in the order they own the allocation; none for a local compute. */
export function nodePools(config: Pick<SubmitConfig, "compute">): ReadonlyMap<string, NodePoolConfig> {
	const [, compute] = onlyCompute(config);
	return compute.type === "slurm" ? compute.node_pools : new Map();
}

function range(first: number, pools: readonly NodePoolConfig[]): NodeRange {
	const declared = pools.flatMap((pool) => (pool.gpus_per_node === null ? [] : [pool.gpus_per_node]));
	const count = pools.reduce((sum, pool) => sum + pool.nodes, 0);
	const gpus = pools.reduce((sum, pool) => sum + pool.nodes * (pool.gpus_per_node ?? 0), 0);
	const known = declared.length > 0;
	return {
		first,
		count: Math.max(count, 1),
		gpusPerNode: known ? Math.min(...declared) : null,
		gpus: known ? gpus : null,
	};
}

/** The nodes of a pool, or of the whole allocation for null; undefined when there is no such pool. */
export function poolNodes(config: Pick<SubmitConfig, "compute">, pool: string | null): NodeRange | undefined {
	const pools = nodePools(config);
	if (pool === null) return range(0, [...pools.values()]);
	let first = 0;
	for (const [name, entry] of pools) {
		if (name === pool) return range(first, [entry]);
		first += entry.nodes;
	}
	return undefined;
}

/** The node of the driver: first of the policy's pool when the policy is pinned, else of the allocation. */
export function driverNode(config: Pick<SubmitConfig, "compute" | "services" | "driver">): number {
	const policy =
		config.driver.policy_model === null ? undefined : config.services.get(config.driver.policy_model);
	return poolNodes(config, policy?.node_pool ?? null)?.first ?? 0;
}

/** How a vLLM service is laid out (spec: "vLLM shapes"). */
export type VllmShape = "single-node" | "one-instance" | "data-parallel" | "gateway";

/** The layout of a service on its nodes. */
export function vllmShape(service: VllmConfig, nodes: Pick<NodeRange, "count" | "gpusPerNode">): VllmShape {
	if (service.use_ray_serve) return "gateway";
	if (nodes.count === 1) return "single-node";
	if (service.number_of_instances === 1) return "one-instance";
	const perInstance = service.tensor_parallel_size * service.pipeline_parallel_size;
	return nodes.gpusPerNode !== null && perInstance > nodes.gpusPerNode ? "gateway" : "data-parallel";
}
