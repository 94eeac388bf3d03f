/** Names that must exist elsewhere in the document. */

import { didYouMean } from "../nearest.ts";
import { nodePools, onlyCompute } from "../nodes.ts";
import type { Path } from "../path.ts";
import { POLICY_KEYS, policyWiring } from "../wiring.ts";
import type { Rule } from "./report.ts";

const list = (names: Iterable<string>) => [...names].join(", ") || "none";

/** `placement` names the compute entry. */
export const placementExists: Rule = (config, report) => {
	const [compute] = onlyCompute(config);
	for (const [name, service] of config.services) {
		if (service.placement === compute) continue;
		const message = `no compute resource ${JSON.stringify(service.placement)}; there is ${JSON.stringify(compute)}`;
		report("error", "placement-unknown", ["services", name, "placement"], message, "leave placement out");
	}
};

/** Pools that services name exist. */
export const poolsExist: Rule = (config, report) => {
	const [compute] = onlyCompute(config);
	const pools = nodePools(config);
	const check = (pool: string | null, path: Path) => {
		if (pool === null || pools.has(pool)) return;
		const message = `no pool ${JSON.stringify(pool)} on compute ${JSON.stringify(compute)} (pools: ${list(pools.keys())})`;
		report("error", "pool-unknown", path, message, didYouMean(pool, pools.keys()));
	};
	for (const [name, service] of config.services) {
		const at = ["services", name];
		check(service.node_pool, [...at, "node_pool"]);
		if (service.type === "vllm_pd") {
			check(service.prefill.node_pool, [...at, "prefill", "node_pool"]);
			check(service.decode.node_pool, [...at, "decode", "node_pool"]);
		}
		if (service.type === "ray")
			for (const [i, pool] of service.node_pools.entries()) check(pool, [...at, "node_pools", i]);
	}
};

/** `policy_model` names a service; one that is malformed and so not in the config is in `leftOut`. */
export function policyExists(leftOut: ReadonlySet<string>): Rule {
	return (config, report) => {
		const { policy_model } = config.driver;
		const services = new Set([...config.services.keys(), ...leftOut]);
		if (policy_model === null || services.has(policy_model)) return;
		const message = `no service ${JSON.stringify(policy_model)} (services: ${list(services)})`;
		const remedy = didYouMean(policy_model, services);
		report("error", "policy-unknown", ["driver", "policy_model"], message, remedy);
	};
}

/** A ray service serves no model: nothing can be wired. */
export const policyIsModel: Rule = (config, report) => {
	const { policy_model } = config.driver;
	if (policy_model === null || config.services.get(policy_model)?.type !== "ray") return;
	const message = `${JSON.stringify(policy_model)} is a ray service, not a model: no policy is given to the benchmarks`;
	report("warning", "policy-is-ray", ["driver", "policy_model"], message, "name a vllm or vllm_pd service");
};

/** The user does not set what the policy service gives. */
export const policyKeysFree: Rule = (config, report) => {
	if (!policyWiring(config)) return;
	for (const [name, benchmark] of config.driver.benchmarks) {
		for (const key of POLICY_KEYS.filter((key) => benchmark.run.has(key))) {
			const path = ["driver", "benchmarks", name, "run", key];
			const message = `set here, and also given by policy_model ${JSON.stringify(config.driver.policy_model)}`;
			report("error", "policy-conflict", path, message, `remove ${key} here, or driver.policy_model`);
		}
	}
};
