/** The OpenTelemetry collector beside the job, and what the driver needs to send to it. */
import type { OtelConfig, SubmitConfig } from "../../submit/config.ts";
import { driverNode } from "../../submit/nodes.ts";
import { serviceNodes } from "../allocation.ts";
import type { Collector, EnvEntry, JobVariable, Scrape } from "../model.ts";
import { quote } from "../script/quote.ts";
import { onNode } from "./step-draft.ts";

/** Id of the collector's step; no service gets it. */
export const COLLECTOR_ID = "otel_collector";

/** Variable of the batch script with the run's id: only the place of a job decides it. */
export const RUN_ID_VARIABLE = "gym_run_id";

/** Ports of the collector: health, and OTLP over gRPC and HTTP. */
export const COLLECTOR_PORTS = { health: 13133, grpc: 4317, http: 4318 } as const;

/** Servers with metrics: name of the deployed service, port, and the nodes that serve. */
function modelServers(
	config: SubmitConfig,
): readonly { name: string; port: number; nodes: readonly number[] }[] {
	const driver = driverNode(config);
	return [...config.services].flatMap(([name, service]) => {
		if (service.type === "ray") return [];
		if (service.type === "vllm") {
			return [{ name, port: service.port, nodes: [serviceNodes(config, service.node_pool).first] }];
		}
		const tiers = (["prefill", "decode"] as const).map((tier) => {
			const { first, count } = serviceNodes(config, service[tier].node_pool);
			const nodes = Array.from({ length: service.server_per_node ? count : 1 }, (_, i) => first + i);
			return { name: `${name}-${tier}`, port: service[tier].port, nodes };
		});
		return [...tiers, { name, port: service.port, nodes: [driver] }];
	});
}

function scrapes(config: SubmitConfig, otel: OtelConfig): readonly Scrape[] {
	const node = driverNode(config);
	const exporters = [
		["dcgm", otel.gpu_metrics_port],
		["node", otel.node_metrics_port],
	] as const;
	return [
		...modelServers(config).map(({ name, port, nodes }) => ({
			job: `${otel.component}/${name}`,
			service: name,
			targets: nodes.map((at) => ({ node: at, port })),
		})),
		...exporters.flatMap(([job, port]) =>
			port === null ? [] : [{ job, service: null, targets: [{ node, port }] }],
		),
	];
}

/** The model that the policy serves, for the attribute `model`. */
function policyModel({ driver, services }: SubmitConfig): string | null {
	const policy = driver.policy_model === null ? undefined : services.get(driver.policy_model);
	return policy === undefined || policy.type === "ray" ? null : (policy.served_model_name ?? policy.model);
}

/** The collector of a benchmark's job; null when it is switched off. */
export function collectorOf(config: SubmitConfig, benchmark: string): Collector | null {
	const { otel } = config;
	if (!otel.enabled || otel.endpoint === null || otel.service_name === null) return null;
	const node = driverNode(config);
	const [cluster] = config.compute.keys();
	return {
		step: {
			id: COLLECTOR_ID,
			word: COLLECTOR_ID,
			at: "otel",
			hosts: onNode(node),
			container: otel.container,
			mounts: [],
			env: [{ name: otel.token_env, kind: "runtime", value: otel.token_env }],
			usesGpus: false,
			seesBench: true,
			addresses: [],
			script: `exec ${quote(otel.binary)} --config "$1/otel/collector.yaml"`,
			health: { node, port: COLLECTOR_PORTS.health, path: "/", timeout: otel.health_check_timeout_seconds },
		},
		node,
		endpoint: otel.endpoint,
		tokenVariable: otel.token_env,
		scrapeInterval: otel.scrape_interval_seconds,
		scrapes: scrapes(config, otel),
		attributes: new Map([
			["service.name", otel.service_name],
			["benchmark", benchmark],
			["cluster", cluster!],
			...(policyModel(config) === null ? [] : [["model", policyModel(config)!] as const]),
		]),
	};
}

/** Name of the variable with the host of a node, for scrapes of other nodes than the collector's. */
export function hostVariable(node: number): string {
	return `GYM_HOST_${node}`;
}

/** What the collector's configuration reads from the job's environment. */
export function collectorVariables({ node, scrapes }: Collector): readonly JobVariable[] {
	const others = new Set(scrapes.flatMap(({ targets }) => targets.map((target) => target.node)));
	others.delete(node);
	return [...others]
		.sort((a, b) => a - b)
		.map((at) => ({ name: hostVariable(at), kind: "hosts", hosts: onNode(at) }));
}

/** Variables of the driver that make Gym send its telemetry; none when it is not to. */
export function telemetryEnv({ otel }: SubmitConfig): readonly EnvEntry[] {
	if (!otel.enabled || !otel.gym_telemetry) return [];
	const literals = [
		["NEMO_GYM_OTEL_ENABLED", "1"],
		["NEMO_GYM_OTEL_SPAN_GROUPS", otel.gym_span_groups],
		["NEMO_GYM_OTEL_LOGS_ENABLED", otel.gym_logs ? "1" : "0"],
		["OTEL_EXPORTER_OTLP_ENDPOINT", `http://localhost:${COLLECTOR_PORTS.http}`],
		["OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"],
		// Gym's log exporter speaks gRPC whatever the protocol says.
		["OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", `http://localhost:${COLLECTOR_PORTS.grpc}`],
	] as const;
	return [
		...literals.map(([name, value]): EnvEntry => ({ name, kind: "lit", value })),
		{ name: "NEMO_GYM_OTEL_RUN_ID", kind: "runtime", value: RUN_ID_VARIABLE },
	];
}
