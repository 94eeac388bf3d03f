/** Ports: within range after the defaults are derived, and no two listeners on one node. */
import type { SubmitConfig, VllmConfig } from "../config.ts";
import { driverNode, nodePools, onlyCompute, poolNodes, vllmShape } from "../nodes.ts";
import { type Path, pathText } from "../path.ts";
import { takesWholeNodes } from "./directive-sets.ts";
import type { Rule } from "./report.ts";

/** Something that listens. */
interface Listener {
	/** Field that sets the port, where a clash is reported. */
	readonly path: Path;
	readonly what: string;
	readonly node: number;
	readonly port: number;
}

/** Port of the Ray head that a vLLM service over several nodes starts on its first node. */
const RAY_HEAD = 6379;

/** The collector's own: OTLP in and its health check. */
const COLLECTOR = [4317, 4318, 13133];

function vllmListeners(
	config: SubmitConfig,
	path: Path,
	service: VllmConfig,
	perNode: boolean,
): readonly Listener[] {
	const nodes = poolNodes(config, service.node_pool);
	if (!nodes) return [];
	const listener = (field: string, what: string, port: number, node = nodes.first): Listener => ({
		path: [...path, field],
		what: `${pathText(path)} (${what})`,
		node,
		port,
	});
	if (perNode) {
		return Array.from({ length: nodes.count }, (_, i) =>
			listener("port", "server", service.port, nodes.first + i),
		);
	}
	const shape = vllmShape(service, nodes);
	const server = listener("port", "server", service.port);
	if (shape === "data-parallel") {
		return [server, listener("data_parallel_rpc_port", "ranks", service.data_parallel_rpc_port)];
	}
	return nodes.count > 1 ? [server, listener("node_pool", "its Ray head", RAY_HEAD)] : [server];
}

function listeners(config: SubmitConfig): readonly Listener[] {
	const node = driverNode(config);
	const services = [...config.services].flatMap(([name, service]): readonly Listener[] => {
		const path = ["services", name];
		if (service.type === "vllm") return vllmListeners(config, path, service, false);
		const kind = service.type === "ray" ? "head" : "router";
		const own = { path: [...path, "port"], what: `${pathText(path)} (${kind})`, node, port: service.port };
		if (service.type === "ray") return [own];
		const tiers = (["prefill", "decode"] as const).flatMap((tier) =>
			vllmListeners(config, [...path, tier], service[tier], service.server_per_node),
		);
		return [own, ...tiers];
	});
	const collector = config.otel.enabled
		? COLLECTOR.map((port) => ({ path: ["otel", "enabled"], what: "the collector", node, port }))
		: [];
	return [...collector, ...services];
}

/** No two programs listen on one port of one node. Without the policy, the driver's node is not known. */
export const portsApart: Rule = (config, report) => {
	const { policy_model } = config.driver;
	if (policy_model !== null && !config.services.has(policy_model)) return;
	const taken = new Map<string, Listener>();
	const reported = new Set<string>();
	for (const listener of listeners(config)) {
		const key = `${listener.node}:${listener.port}`;
		const other = taken.get(key);
		if (!other) {
			taken.set(key, listener);
			continue;
		}
		const at = pathText(listener.path);
		if (reported.has(at)) continue;
		reported.add(at);
		const message = `port ${listener.port} of node ${listener.node} is also used by ${other.what}`;
		report("error", "port-clash", listener.path, message, "use another port, or other nodes");
	}
};

/** Ports that are derived from others still exist. */
export const derivedPorts: Rule = (config, report) => {
	for (const [name, service] of config.services) {
		if (service.type !== "vllm_pd") continue;
		const derived: readonly (readonly [field: string, what: string, port: number])[] = [
			["port", "prefill.port", service.prefill.port],
			["port", "decode.port", service.decode.port],
			["nixl_side_channel_port", "decode's side-channel port", service.nixl_side_channel_port + 1],
			["prefill", "decode.data_parallel_rpc_port", service.decode.data_parallel_rpc_port],
		];
		for (const [field, what, port] of derived) {
			if (port <= 65535) continue;
			report("error", "out-of-range", ["services", name, field], `${what} would be ${port}, above 65535`);
		}
	}
};

/** Jobs of other people, or two of these, may listen on the same ports of a node that is not taken whole. */
export const nodesWhole: Rule = (config, report) => {
	const [name, compute] = onlyCompute(config);
	if (compute.type !== "slurm" || config.services.size === 0 || takesWholeNodes(config)) return;
	const pools = [...nodePools(config).values()];
	const path = ["compute", name];
	const remedy = "add extra_args: {exclusive: true}";
	const rays = [...config.services.values()].some((service) => service.type === "ray");
	if (rays && config.driver.benchmarks.size > 1) {
		const message =
			"jobs of several benchmarks may meet on one node, where their Ray heads fight for fixed ports";
		report("warning", "shared-node", path, message, remedy);
	} else if (pools.length === 0 || pools.some((pool) => pool.gpus_per_node === null)) {
		const message = "services listen on nodes that the job may share: another job can hold their ports";
		report("warning", "shared-node", path, message, remedy);
	}
};
