/** Ports: within range after the defaults are derived, and no two listeners on one node. */
import { nodePools, onlyCompute } from "../nodes.ts";
import { pathText } from "../path.ts";
import { takesWholeNodes } from "./directive-sets.ts";
import { type Listener, listeners, sideChannelPorts } from "./listeners.ts";
import type { Report, Rule } from "./report.ts";

/** Where two listeners meet: the first node and port that they share; null when they do not. */
function meeting(a: Listener, b: Listener): { readonly node: number; readonly port: number } | null {
	const node = Math.max(a.nodes.first, b.nodes.first);
	const port = Math.max(a.ports.first, b.ports.first);
	const beyond = Math.min(a.nodes.first + a.nodes.count, b.nodes.first + b.nodes.count);
	return node < beyond && port <= Math.min(a.ports.last, b.ports.last) ? { node, port } : null;
}

const needsPort = ({ kind }: Listener) => kind === "server" || kind === "ray-head";
const isChannel = ({ kind }: Listener) => kind === "side-channel";

/** Two listeners that meet: how bad it is, whose field says so, and who else is there. */
interface Clash {
	readonly severity: "error" | "warning";
	readonly code: "port-clash" | "port-contested" | "side-channels-overlap";
	readonly at: Listener;
	readonly other: Listener;
}

/** What it means that two listeners meet; null when nobody minds. */
function clash(earlier: Listener, later: Listener): Clash | null {
	const [at, other] = needsPort(later) ? [later, earlier] : [earlier, later];
	if (needsPort(earlier) && needsPort(later)) return { severity: "error", code: "port-clash", at, other };
	if ([at, other].some(({ kind }) => kind === "helper"))
		return needsPort(at) ? { severity: "warning", code: "port-contested", at, other } : null;
	const [channel, met] = isChannel(later) ? [later, earlier] : [earlier, later];
	return { severity: "warning", code: "side-channels-overlap", at: channel, other: met };
}

function shown({ first, last }: Listener["ports"]): string {
	return first === last ? `port ${first}` : `ports ${first} to ${last}`;
}

/** No two programs listen on one port of one node. Without the policy, the driver's node is not known. */
export const portsApart: Rule = (config, report) => {
	const { policy_model } = config.driver;
	if (policy_model !== null && !config.services.has(policy_model)) return;
	const all = listeners(config);
	const reported = new Set<string>();
	for (const [i, later] of all.entries()) {
		for (const earlier of all.slice(0, i)) {
			const met = meeting(earlier, later);
			const found = met && clash(earlier, later);
			if (!found) continue;
			const key = `${found.code} ${pathText(found.at.path)}`;
			if (reported.has(key)) continue;
			reported.add(key);
			reportClash(report, found, met);
		}
	}
};

function reportClash(
	report: Report,
	{ severity, code, at, other }: Clash,
	{ node, port }: { readonly node: number; readonly port: number },
): void {
	if (code === "side-channels-overlap") {
		const message =
			`the side channel of a worker may need port ${port} of node ${node} (${shown(at.ports)}), ` +
			`where ${other.what} has ${shown(other.ports)}`;
		report(severity, code, at.path, message, "put the tiers on separate pools, or move the ports apart");
	} else {
		const use = code === "port-clash" ? "is also used" : "may be taken";
		const message = `port ${port} of node ${node} ${use} by ${other.what}`;
		report(severity, code, at.path, message, "use another port, or other nodes");
	}
}

/** Ports that are derived from others still exist. */
export const derivedPorts: Rule = (config, report) => {
	for (const [name, service] of config.services) {
		if (service.type !== "vllm_pd") continue;
		const channels = (["prefill", "decode"] as const).map((tier) => sideChannelPorts(service, tier).last);
		const derived: readonly (readonly [field: string, what: string, port: number])[] = [
			["port", "prefill.port", service.prefill.port],
			["port", "decode.port", service.decode.port],
			["nixl_side_channel_port", "the last side-channel port", Math.max(...channels)],
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
	const rays = listeners(config).some(({ kind }) => kind === "ray-head");
	if (rays && config.driver.benchmarks.size > 1) {
		const message =
			"jobs of several benchmarks may meet on one node, where their Ray heads fight for fixed ports";
		report("warning", "shared-node", path, message, remedy);
	} else if (pools.length === 0 || pools.some((pool) => pool.gpus_per_node === null)) {
		const message = "services listen on nodes that the job may share: another job can hold their ports";
		report("warning", "shared-node", path, message, remedy);
	}
};
