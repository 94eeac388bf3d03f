/** What the job cannot do yet, each with the document path that asks for it. */
import type { Problem } from "../../errors.ts";
import type { ServiceConfig, SubmitConfig } from "../../submit/config.ts";
import { onlyCompute, poolNodes, vllmShape } from "../../submit/nodes.ts";
import { nodeCount } from "../allocation.ts";

function notYet(at: string, what: string): Problem {
	return { code: "not-yet", severity: "error", at, message: `${what} is not supported yet` };
}

function serviceProblem(config: SubmitConfig, at: string, service: ServiceConfig): Problem | null {
	if (service.type === "vllm_pd") return notYet(at, "vllm_pd");
	if (service.type === "ray") return notYet(at, "ray");
	const [, compute] = onlyCompute(config);
	const range = poolNodes(config, service.node_pool)!;
	// Without pools the user's own `nodes` directive may ask for several.
	const count = service.node_pool === null && compute.type === "slurm" ? nodeCount(compute) : range.count;
	const shape = vllmShape(service, { ...range, count });
	if (shape === "single-node") return null;
	return notYet(at, shape === "gateway" ? "Ray Serve gateway" : "multi-node vLLM");
}

/** Everything that one benchmark's job would need and that is still missing. */
export function notYetProblems(config: SubmitConfig, benchmark: string): readonly Problem[] {
	return [
		...[...config.services].flatMap(
			([key, service]) => serviceProblem(config, `services.${key}`, service) ?? [],
		),
		...(config.driver.benchmarks.get(benchmark)?.resumable
			? [notYet(`driver.benchmarks.${benchmark}.resumable`, "resumable")]
			: []),
		...(config.otel.enabled ? [notYet("otel.enabled", "collector (otel.enabled)")] : []),
	];
}
