/** Ray services. */
import { optionValues } from "./option-values.ts";
import type { Rule } from "./report.ts";

/** A pool is spanned once. */
export const rayPoolsOnce: Rule = (config, report) => {
	for (const [name, service] of config.services) {
		if (service.type !== "ray") continue;
		for (const [i, pool] of service.node_pools.entries()) {
			if (service.node_pools.indexOf(pool) === i) continue;
			const message = `pool ${JSON.stringify(pool)} is listed twice`;
			report("error", "ray-pool-twice", ["services", name, "node_pools", i], message, "remove one");
		}
	}
};

/** Resources belong to spanned pools. */
export const rayResourcesSpanned: Rule = (config, report) => {
	for (const [name, service] of config.services) {
		if (service.type !== "ray") continue;
		for (const pool of [...service.resources.keys()].filter((pool) => !service.node_pools.includes(pool))) {
			const message = `pool ${JSON.stringify(pool)} is not among this service's node_pools`;
			report(
				"error",
				"ray-resources-pool",
				["services", name, "resources", pool],
				message,
				"add it to node_pools",
			);
		}
	}
};

/** `--port` would move the head away from the address that everyone else is given. */
export const rayPortOnce: Rule = (config, report) => {
	for (const [name, service] of config.services) {
		if (service.type !== "ray") continue;
		for (const given of optionValues(service.extra_args, "--port")) {
			if (Number(given) === service.port) continue;
			const message = `--port ${given} differs from port ${service.port}, which the workers are given`;
			report("error", "ray-port-differs", ["services", name, "extra_args"], message, "set port instead");
		}
	}
};
