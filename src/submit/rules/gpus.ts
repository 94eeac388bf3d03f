/** The GPUs that vLLM services need, against those of their nodes. */
import type { SubmitConfig, VllmConfig } from "../config.ts";
import { type NodeRange, poolNodes, vllmShape } from "../nodes.ts";
import type { Path } from "../path.ts";
import type { Report, Rule } from "./report.ts";

/** One vLLM server of the document (a vllm service, or a tier) on its nodes. */
interface Server {
	readonly path: Path;
	readonly service: VllmConfig;
	/** The nodes of one server. */
	readonly nodes: NodeRange;
	/** How many servers of this kind there are, each on the next node. */
	readonly servers: number;
}

/** All vLLM servers whose pool exists. With `server_per_node` each node of a tier is one of its own. */
export function vllmServers(config: SubmitConfig): readonly Server[] {
	const server = (path: Path, service: VllmConfig, perNode: boolean): readonly Server[] => {
		const nodes = poolNodes(config, service.node_pool);
		if (!nodes) return [];
		if (!perNode) return [{ path, service, nodes, servers: 1 }];
		return [{ path, service, nodes: { ...nodes, count: 1, gpus: nodes.gpusPerNode }, servers: nodes.count }];
	};
	return [...config.services].flatMap(([name, service]) => {
		if (service.type === "ray") return [];
		if (service.type === "vllm") return server(["services", name], service, false);
		return (["prefill", "decode"] as const).flatMap((tier) =>
			server(["services", name, tier], service[tier], service.server_per_node),
		);
	});
}

/** GPUs a server needs, those it can use, and how both come about. */
function footprint({ service, nodes }: Server): { need: number; have: number; sum: string } | null {
	const { gpusPerNode, gpus, count } = nodes;
	if (gpusPerNode === null || gpus === null) return null;
	const { tensor_parallel_size: tp, pipeline_parallel_size: pp, number_of_instances: n } = service;
	const node = `${gpusPerNode} of a node`;
	const all = `${gpus} of ${count} node${count === 1 ? "" : "s"}`;
	switch (vllmShape(service, nodes)) {
		case "single-node":
			return { need: tp * pp * n, have: gpusPerNode, sum: `${tp} × ${pp} × ${n} against ${node}` };
		case "one-instance":
			return { need: tp * pp, have: gpus, sum: `${tp} × ${pp} against ${all}` };
		case "data-parallel": {
			const share = Math.ceil(n / count);
			return {
				need: tp * pp * share,
				have: gpusPerNode,
				sum: `${tp} × ${pp} × ${share} per node against ${node}`,
			};
		}
		case "gateway":
			return { need: tp * pp * n, have: gpus, sum: `${tp} × ${pp} × ${n} against ${all}` };
	}
}

function checkFootprint(server: Server, report: Report): void {
	const gpus = footprint(server);
	if (!gpus || gpus.need === gpus.have) return;
	const { need, have, sum } = gpus;
	if (need > have) {
		const message = `needs ${need} GPUs, but has ${have} (tensor × pipeline × instances: ${sum})`;
		report(
			"error",
			"gpus-too-few",
			server.path,
			message,
			"lower the parallel sizes, or take more nodes or GPUs per node",
		);
	} else {
		const message = `uses ${need} of ${have} GPUs (${sum})`;
		report("warning", "idle-gpus", server.path, message);
	}
}

/** Enough GPUs for each server, and none idle; where a pool says how many there are. */
export const gpusFit: Rule = (config, report) => {
	for (const server of vllmServers(config)) checkFootprint(server, report);
};

/** GPUs that a server takes on each of its nodes, by node. */
function gpusByNode({ service, nodes, servers }: Server): ReadonlyMap<number, number> {
	const perInstance = service.tensor_parallel_size * service.pipeline_parallel_size;
	const each = Math.ceil((perInstance * service.number_of_instances) / nodes.count);
	return new Map(Array.from({ length: nodes.count * servers }, (_, i) => [nodes.first + i, each]));
}

/** Servers that share a node fit on it together. A warning: GPUs can be shared on purpose. */
export const gpusFitTogether: Rule = (config, report) => {
	const taken = new Map<number, number>();
	for (const server of vllmServers(config)) {
		const { gpusPerNode } = server.nodes;
		const own = gpusByNode(server);
		// A server that does not even fit alone has its error already.
		const crowded = [...own].find(([node, gpus]) => {
			const before = taken.get(node) ?? 0;
			return gpusPerNode !== null && gpus <= gpusPerNode && before > 0 && before + gpus > gpusPerNode;
		});
		for (const [node, gpus] of own) taken.set(node, (taken.get(node) ?? 0) + gpus);
		if (!crowded) continue;
		const [node] = crowded;
		const message = `with the services before it, node ${node} would need ${taken.get(node)} GPUs, but has ${gpusPerNode}`;
		report(
			"warning",
			"gpus-shared",
			server.path,
			message,
			"pin services to pools of their own, or take more GPUs",
		);
	}
};

/** Replicas spread evenly over nodes. */
export const replicasEven: Rule = (config, report) => {
	for (const { path, service, nodes } of vllmServers(config)) {
		if (vllmShape(service, nodes) !== "data-parallel" || service.number_of_instances % nodes.count === 0)
			continue;
		const message = `${service.number_of_instances} instances do not divide evenly over ${nodes.count} nodes`;
		const remedy = `use a multiple of ${nodes.count}, or use_ray_serve: true`;
		report("error", "replicas-uneven", [...path, "number_of_instances"], message, remedy);
	}
};
