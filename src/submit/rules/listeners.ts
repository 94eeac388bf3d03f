/** Which program listens on which ports of which nodes while a job runs. */
import type {
	OtelConfig,
	RayConfig,
	ServiceConfig,
	SubmitConfig,
	VllmConfig,
	VllmPdConfig,
} from "../config.ts";
import { driverNode, poolNodes, vllmShape } from "../nodes.ts";
import { type Path, pathText } from "../path.ts";
import { optionValues } from "./option-values.ts";

/**
 * `server` and `ray-head` need their ports. `side-channel`: one port a worker, counted up from the first. `helper`: a
 * program that is there beside the service or does without its port, but then may hold it before the service does.
 */
type Kind = "server" | "ray-head" | "side-channel" | "helper";

/** Something that listens. */
export interface Listener {
	/** Field that sets the port, where a clash is reported. */
	readonly path: Path;
	readonly what: string;
	readonly kind: Kind;
	/** The same ports on each of these nodes. */
	readonly nodes: { readonly first: number; readonly count: number };
	readonly ports: { readonly first: number; readonly last: number };
}

/** Port of the Ray head that a vLLM service over several nodes starts on its first node. */
const RAY_HEAD = 6379;

/** Ray's dashboard, on the head's node. */
const RAY_DASHBOARD = 8265;

/** The collector's own: OTLP in and its health check. */
const COLLECTOR = [4317, 4318, 13133];

/** Where the collector shows its own metrics. */
const COLLECTOR_METRICS = 8888;

const one = (port: number) => ({ first: port, last: port });

function vllmListeners(
	config: SubmitConfig,
	path: Path,
	service: VllmConfig,
	perNode: boolean,
): readonly Listener[] {
	const nodes = poolNodes(config, service.node_pool);
	if (!nodes) return [];
	const listener = (field: string, kind: Kind, what: string, port: number): Listener => ({
		path: [...path, field],
		what: `${pathText(path)} (${what})`,
		kind,
		nodes: { first: nodes.first, count: perNode ? nodes.count : 1 },
		ports: one(port),
	});
	const server = listener("port", "server", "server", service.port);
	if (perNode || nodes.count === 1) return [server];
	if (vllmShape(service, nodes) === "data-parallel") {
		return [server, listener("data_parallel_rpc_port", "server", "ranks", service.data_parallel_rpc_port)];
	}
	return [
		server,
		listener("node_pool", "ray-head", "its Ray head", RAY_HEAD),
		listener("node_pool", "helper", "the dashboard of its Ray cluster", RAY_DASHBOARD),
	];
}

/** Side-channel ports of a tier: the base port of the tier and one for every worker of a layer, counted over all replicas. */
export function sideChannelPorts(service: VllmPdConfig, tier: "prefill" | "decode"): Listener["ports"] {
	const { tensor_parallel_size: workers, number_of_instances: copies } = service[tier];
	const first = service.nixl_side_channel_port + (tier === "decode" ? 1 : 0);
	return { first, last: first + workers * copies - 1 };
}

function pdListeners(config: SubmitConfig, path: Path, service: VllmPdConfig): readonly Listener[] {
	return (["prefill", "decode"] as const).flatMap((tier) => {
		const at = [...path, tier];
		const nodes = poolNodes(config, service[tier].node_pool);
		const servers = vllmListeners(config, at, service[tier], service.server_per_node);
		// A port of the user's own is not known here.
		if (!nodes || service[tier].env.has("VLLM_NIXL_SIDE_CHANNEL_PORT")) return servers;
		const channel: Listener = {
			path: [...path, "nixl_side_channel_port"],
			what: `${pathText(at)} (side channel)`,
			kind: "side-channel",
			nodes,
			ports: sideChannelPorts(service, tier),
		};
		return [...servers, channel];
	});
}

/** Port of the dashboard that a cluster's head starts; null when it is told to start none. */
function dashboardPort({ extra_args }: RayConfig): number | null {
	const off = optionValues(extra_args, "--include-dashboard").some((value) =>
		/^(false|0|no|off)$/i.test(value),
	);
	return off ? null : Number(optionValues(extra_args, "--dashboard-port").at(-1) ?? RAY_DASHBOARD);
}

/** A listener with one port on the driver's node; none without a port. */
type OnDriver = (path: Path, kind: Kind, what: string, port: number | null) => readonly Listener[];

function serviceListeners(
	config: SubmitConfig,
	name: string,
	service: ServiceConfig,
	onDriver: OnDriver,
): readonly Listener[] {
	const path = ["services", name];
	const field = [...path, "port"];
	switch (service.type) {
		case "vllm":
			return vllmListeners(config, path, service, false);
		case "vllm_pd":
			return [
				...onDriver(field, "server", `${pathText(path)} (router)`, service.port),
				...pdListeners(config, path, service),
			];
		case "ray":
			return [
				...onDriver(field, "ray-head", `${pathText(path)} (head)`, service.port),
				...onDriver(field, "helper", `the dashboard of ${pathText(path)}`, dashboardPort(service)),
			];
	}
}

function collectorListeners(otel: OtelConfig, onDriver: OnDriver): readonly Listener[] {
	if (!otel.enabled) return [];
	const exporter = (field: "gpu_metrics_port" | "node_metrics_port", what: string) =>
		onDriver(["otel", field], "helper", `the ${what} exporter that the collector reads`, otel[field]);
	return [
		...COLLECTOR.flatMap((port) => onDriver(["otel", "enabled"], "server", "the collector", port)),
		...onDriver(["otel", "enabled"], "helper", "the collector's own metrics", COLLECTOR_METRICS),
		...exporter("gpu_metrics_port", "GPU"),
		...exporter("node_metrics_port", "node"),
	];
}

/** Everything that listens, the collector first, then the services as they are declared. */
export function listeners(config: SubmitConfig): readonly Listener[] {
	const nodes = { first: driverNode(config), count: 1 };
	const onDriver: OnDriver = (path, kind, what, port) =>
		port === null ? [] : [{ path, what, kind, nodes, ports: one(port) }];
	return [
		...collectorListeners(config.otel, onDriver),
		...[...config.services].flatMap(([name, service]) => serviceListeners(config, name, service, onDriver)),
	];
}
