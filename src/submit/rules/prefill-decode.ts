/** Prefill/decode services. */
import type { VllmPdConfig } from "../config.ts";
import { nodePools } from "../nodes.ts";
import type { Path } from "../path.ts";
import type { Report, Rule } from "./report.ts";

const TIERS = ["prefill", "decode"] as const;

/** Below this, long requests of agents are cut off. */
const SHORT_TIMEOUT = 600;

/** A rule that looks at each vllm_pd service. */
function eachPd(
	check: (name: string, service: VllmPdConfig, report: Report, at: Path, pools: readonly string[]) => void,
): Rule {
	return (config, report) => {
		const pools = [...nodePools(config).keys()];
		for (const [name, service] of config.services) {
			if (service.type === "vllm_pd") check(name, service, report, ["services", name], pools);
		}
	};
}

/** X deploys X-prefill and X-decode too. */
export const tierNamesFree: Rule = (config, report) => {
	for (const [name, service] of config.services) {
		if (service.type !== "vllm_pd") continue;
		for (const taken of TIERS.map((tier) => `${name}-${tier}`).filter((tier) => config.services.has(tier))) {
			const message = `the name is taken: ${JSON.stringify(name)} deploys a service of this name`;
			report("error", "tier-name-taken", ["services", taken], message, "rename one of them");
		}
	}
};

/** Each tier has its pool, and its own. */
export const tierPools = eachPd((_, service, report, at) => {
	for (const tier of TIERS.filter((tier) => service[tier].node_pool === null)) {
		report("error", "tier-without-pool", [...at, tier, "node_pool"], `the ${tier} tier needs a node_pool`);
	}
	const pool = service.decode.node_pool;
	if (pool !== null && pool === service.prefill.node_pool) {
		const message = `both tiers are on pool ${JSON.stringify(pool)}: they share its GPUs and ports`;
		report(
			"warning",
			"tiers-share-pool",
			[...at, "decode", "node_pool"],
			message,
			"give each tier a pool of its own",
		);
	}
});

/** The tiers' ranks meet on ports of their own. */
export const tierRpcPorts = eachPd((_, service, report, at) => {
	const port = service.prefill.data_parallel_rpc_port;
	if (port !== service.decode.data_parallel_rpc_port) return;
	const message = `both tiers use port ${port}`;
	report(
		"error",
		"tier-rpc-port",
		[...at, "decode", "data_parallel_rpc_port"],
		message,
		"give decode another, or leave it out",
	);
});

/** With a server on every node, a tier's replicas are its nodes. */
export const tierServerPerNode = eachPd((_, service, report, at) => {
	if (!service.server_per_node) return;
	for (const tier of TIERS.filter((tier) => service[tier].number_of_instances !== 1)) {
		const message = "with server_per_node a tier has one instance per node";
		report(
			"error",
			"tier-instances",
			[...at, tier, "number_of_instances"],
			message,
			"set it to 1, or leave it out",
		);
	}
});

/** The driver reaches the router over localhost on the first node. */
export const routerOnFirstPool = eachPd((name, service, report, at, pools) => {
	const [first] = pools;
	if (service.node_pool === null || service.node_pool === first || !pools.includes(service.node_pool)) return;
	const message = `the router of ${JSON.stringify(name)} must be on the first pool, ${JSON.stringify(first)}`;
	report(
		"error",
		"router-not-first",
		[...at, "node_pool"],
		message,
		"leave it out, or declare that pool first",
	);
});

/** Agentic benchmarks hold requests open for long. */
export const routerPatient = eachPd((_, service, report, at) => {
	const seconds = service.request_timeout_secs;
	if (seconds >= SHORT_TIMEOUT) return;
	const message = `requests are cut off after ${seconds} s, which agentic benchmarks exceed`;
	report(
		"warning",
		"short-request-timeout",
		[...at, "request_timeout_secs"],
		message,
		"the default is a day",
	);
});

/** The router speaks to the engines: programs of two images have to fit. */
export const routerFits = eachPd((_, service, report, at) => {
	const images = TIERS.map((tier) => service[tier].container);
	if (images.every((image) => image === service.container)) return;
	const [prefill, decode] = images.map((image) => JSON.stringify(image));
	const message =
		`the router runs in ${JSON.stringify(service.container)}, prefill in ${prefill}, decode in ${decode}: ` +
		"the router's image must provide vllm-router, of a version that fits the tiers' vLLM";
	report("note", "router-image", [...at, "container"], message);
});
