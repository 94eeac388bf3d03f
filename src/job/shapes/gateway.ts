/** Several vLLM instances behind the Ray Serve gateway, our own program, which starts and watches them. */
import type { VllmConfig } from "../../submit/config.ts";
import type { NodeRange } from "../../submit/nodes.ts";
import gatewayProgram from "../assets/gateway.py";
import { quoteAll } from "../script/quote.ts";
import { IN_CLUSTER, RAY_INSTALL } from "../script/ray.ts";

/** GPUs of a node; where no pool says, those that one instance needs. */
function gpusOf({ gpusPerNode }: NodeRange, service: VllmConfig): number {
	return gpusPerNode ?? service.tensor_parallel_size * service.pipeline_parallel_size;
}

function gatewayWords(service: VllmConfig, range: NodeRange): readonly string[] {
	return [
		...["--model", service.model],
		...["--port", String(service.port)],
		...["--tensor-parallel-size", String(service.tensor_parallel_size)],
		...["--pipeline-parallel-size", String(service.pipeline_parallel_size)],
		...["--number-of-instances", String(service.number_of_instances)],
		...["--gpus-per-node", String(gpusOf(range, service))],
		...(service.trust_remote_code ? ["--trust-remote-code"] : []),
		...(service.served_model_name === null ? [] : ["--served-model-name", service.served_model_name]),
	];
}

/**
 * The script of a service behind the gateway.
 * @param extra words of ours for every server, before the user's
 */
export function gatewayScript(service: VllmConfig, range: NodeRange, extra: readonly string[]): string {
	const own = service.extra_args.trim();
	const words = `${quoteAll(extra)}${own && ` ${own}`}`.trim();
	const cluster = range.count > 1 ? `in_cluster "$gym_head" ${range.count}` : "exec";
	return `${RAY_INSTALL}
# The gateway itself runs on the first node.
if ((SLURM_PROCID == 0)); then
	pip show --quiet aiohttp ray 2>/dev/null || python3 -c 'import aiohttp, ray' 2>/dev/null ||
		pip install 'ray[serve]' || exit
fi
${range.count > 1 ? `${IN_CLUSTER}\n` : ""}gateway=$(mktemp -d)/gateway.py
cat >"$gateway" <<'GATEWAY'
${gatewayProgram.trimEnd()}
GATEWAY
# The servers' own words, split by the shell as the user wrote them; each is quoted again for one argument.
start() {
	${cluster} python3 "$gateway" ${quoteAll(gatewayWords(service, range))} "\${extra[@]}"
}
split() {
	extra=()
	(($# == 0)) || extra=(--extra-args "\${*@Q}")
}
split ${words}
start`;
}
