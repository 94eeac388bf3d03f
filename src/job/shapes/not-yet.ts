/** What the job cannot do yet, each with the document path that asks for it. */
import type { Problem } from "../../errors.ts";
import type { ServiceConfig, SubmitConfig } from "../../submit/config.ts";
import { vllmShape } from "../../submit/nodes.ts";
import { serviceNodes } from "../allocation.ts";

function notYet(at: string, what: string): Problem {
	return { code: "not-yet", severity: "error", at, message: `${what} is not supported yet` };
}

function serviceProblem(config: SubmitConfig, at: string, service: ServiceConfig): Problem | null {
	if (service.type !== "vllm") return null;
	const shape = vllmShape(service, serviceNodes(config, service.node_pool));
	return shape === "gateway" ? notYet(at, "Ray Serve gateway") : null;
}

/** Everything that the jobs would need and that is still missing. */
export function notYetProblems(config: SubmitConfig): readonly Problem[] {
	return [
		...[...config.services].flatMap(
			([key, service]) => serviceProblem(config, `services.${key}`, service) ?? [],
		),
	];
}
