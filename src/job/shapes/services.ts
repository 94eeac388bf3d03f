/** From the services of a document to the steps of a job and what it tells of them. */
import type { RayConfig, ServiceConfig, SubmitConfig } from "../../submit/config.ts";
import { driverNode, vllmShape } from "../../submit/nodes.ts";
import { serviceNodes } from "../allocation.ts";
import type { JobVariable } from "../model.ts";
import { RAY_PORT } from "../script/ray.ts";
import { type RayPool, raySteps, rayVariables } from "./ray.ts";
import type { StepDraft } from "./step-draft.ts";
import { vllmStep } from "./vllm.ts";
import { vllmPdSteps } from "./vllm-pd.ts";

function spanned(config: SubmitConfig, { node_pools }: RayConfig): readonly RayPool[] {
	return node_pools.map((name) => ({ name, range: serviceNodes(config, name) }));
}

/** The steps of all services, in the order of the document. */
export function serviceSteps(config: SubmitConfig): readonly StepDraft[] {
	return [...config.services].flatMap(([name, service]) => stepsOf(name, service, config));
}

function stepsOf(name: string, service: ServiceConfig, config: SubmitConfig): readonly StepDraft[] {
	const at = `services.${name}`;
	const driver = driverNode(config);
	const nodes = (pool: string | null) => serviceNodes(config, pool);
	switch (service.type) {
		case "vllm":
			return [vllmStep(name, at, service, nodes(service.node_pool))];
		case "vllm_pd": {
			const ranges = { prefill: nodes(service.prefill.node_pool), decode: nodes(service.decode.node_pool) };
			return vllmPdSteps(name, at, service, ranges, driver);
		}
		case "ray":
			return raySteps(name, at, service, spanned(config, service), driver);
	}
}

/** Head nodes of vLLM services that span several nodes: the first of them names `RAY_HEAD_NODE_IP`. */
function rayHeads(config: SubmitConfig): readonly number[] {
	return [...config.services.values()].flatMap((service) => {
		const servers =
			service.type === "vllm"
				? [service]
				: service.type === "vllm_pd" && !service.server_per_node
					? [service.prefill, service.decode]
					: [];
		return servers.flatMap((server) => {
			const range = serviceNodes(config, server.node_pool);
			return range.count > 1 && vllmShape(server, range) !== "single-node" ? [range.first] : [];
		});
	});
}

/** What every job tells its steps: the driver's host, and the heads of Ray clusters. */
export function serviceVariables(config: SubmitConfig): readonly JobVariable[] {
	const driver = driverNode(config);
	const [head] = rayHeads(config);
	return [
		{ name: "HEAD_NODE_IP", kind: "address", node: driver, port: null },
		...(head === undefined
			? []
			: [{ name: "RAY_HEAD_NODE_IP", kind: "address", node: head, port: RAY_PORT } as const]),
		...[...config.services].flatMap(([name, service]) =>
			service.type === "ray" ? rayVariables(name, service, spanned(config, service), driver) : [],
		),
	];
}
