/** Prefill and decode on servers of their own, behind a router. */
import type { VllmConfig, VllmPdConfig } from "../../submit/config.ts";
import type { NodeRange } from "../../submit/nodes.ts";
import { quoteAll } from "../script/quote.ts";
import { afterPreCommand, commonParts, healthOn, onNode, type StepDraft } from "./step-draft.ts";
import { type ServerExtras, vllmStep } from "./vllm.ts";

type Tier = "prefill" | "decode";

const ROLES: Readonly<Record<Tier, string>> = { prefill: "kv_producer", decode: "kv_consumer" };

function tierExtras(service: VllmPdConfig, tier: Tier): ServerExtras {
	const { kv_connector, kv_load_failure_policy, nixl_side_channel_port } = service;
	const transfer = { kv_connector, kv_role: ROLES[tier], kv_load_failure_policy };
	const channel = [
		["VLLM_NIXL_SIDE_CHANNEL_HOST", '"$(hostname)"'],
		["VLLM_NIXL_SIDE_CHANNEL_PORT", String(nixl_side_channel_port + (tier === "decode" ? 1 : 0))],
	] as const;
	return {
		words: ["--kv-transfer-config", JSON.stringify(transfer)],
		// What the user sets for the tier stays.
		before: channel
			.filter(([name]) => !service[tier].env.has(name))
			.map(([name, value]) => `export ${name}=${value}`),
	};
}

/** The servers of a tier: one over all its nodes, or one a node, each with a step and a log of its own. */
function tierSteps(
	name: string,
	at: string,
	service: VllmPdConfig,
	tier: Tier,
	range: NodeRange,
): readonly StepDraft[] {
	const extras = tierExtras(service, tier);
	const server = (node: NodeRange): StepDraft =>
		vllmStep(`${name}-${tier}`, `${at}.${tier}`, service[tier], node, extras);
	if (!service.server_per_node) return [server(range)];
	return Array.from({ length: range.count }, (_, i) =>
		server({ ...range, first: range.first + i, count: 1, gpus: range.gpusPerNode }),
	);
}

function routerScript(service: VllmPdConfig, endpoints: readonly (readonly [Tier, VllmConfig])[]): string {
	const words = [
		...["--prefill-policy", service.prefill_policy],
		...["--decode-policy", service.decode_policy],
		"--vllm-pd-disaggregation",
	];
	const options = [
		...["--host", "0.0.0.0", "--port", String(service.port)],
		...["--intra-node-data-parallel-size", String(service.intra_node_data_parallel_size)],
		...["--request-timeout-secs", String(service.request_timeout_secs)],
		...["--log-level", service.log_level],
	];
	// The arguments are the endpoints' addresses; `pre_command` may change them, so they are kept first.
	const urls = endpoints.map(([tier, { port }], i) => `--${tier} "http://\${gym_endpoints[${i}]}:${port}"`);
	return `exec vllm-router ${quoteAll(words)} ${urls.join(" ")} ${quoteAll(options)}`;
}

/**
 * The steps of a `vllm_pd` service: both tiers, then the router.
 * @param ranges nodes of the tiers' pools
 * @param driverNode where the router runs: the driver reaches it on its own host
 */
export function vllmPdSteps(
	name: string,
	at: string,
	service: VllmPdConfig,
	ranges: Readonly<Record<Tier, NodeRange>>,
	driverNode: number,
): readonly StepDraft[] {
	const tiers = (["prefill", "decode"] as const).map((tier) => ({
		tier,
		steps: tierSteps(name, at, service, tier, ranges[tier]),
	}));
	const endpoints = tiers.flatMap(({ tier, steps }) =>
		steps.map((step) => ({ tier, node: step.hosts.first, config: service[tier] })),
	);
	const router: StepDraft = {
		name,
		...commonParts(service, at),
		usesGpus: false,
		hosts: onNode(driverNode),
		addresses: endpoints.map(({ node }) => node),
		script: `gym_endpoints=("$@")\n${afterPreCommand(
			service,
			routerScript(
				service,
				endpoints.map(({ tier, config }) => [tier, config] as const),
			),
		)}`,
		health: healthOn(driverNode, service.health_check, service.port),
	};
	return [...tiers.flatMap(({ steps }) => steps), router];
}
