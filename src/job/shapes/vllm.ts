/** vLLM servers: on one node, one instance across nodes, data parallel over nodes, or behind the gateway. */
import type { Problem } from "../../errors.ts";
import type { VllmConfig } from "../../submit/config.ts";
import { type NodeRange, vllmShape } from "../../submit/nodes.ts";
import { commandText, WITHOUT } from "../script/arguments.ts";
import { quoteAll } from "../script/quote.ts";
import { IN_CLUSTER, RAY_INSTALL } from "../script/ray.ts";
import { shellWordsFault } from "../shell-words.ts";
import { gatewayScript } from "./gateway.ts";
import { afterPreCommand, commonParts, healthOn, type StepDraft } from "./step-draft.ts";

/** What a tier of a prefill/decode service adds to its servers. */
export interface ServerExtras {
	/** Words behind our own options, before the user's. */
	readonly words: readonly string[];
	/** Shell lines before the user's `pre_command`. */
	readonly before: readonly string[];
}

const NOTHING: ServerExtras = { words: [], before: [] };

function serveWords(service: VllmConfig, extras: ServerExtras): readonly string[] {
	const { served_model_name, pipeline_parallel_size } = service;
	return [
		...["serve", service.model],
		...["--port", String(service.port)],
		...["--tensor-parallel-size", String(service.tensor_parallel_size)],
		...(pipeline_parallel_size > 1 ? ["--pipeline-parallel-size", String(pipeline_parallel_size)] : []),
		...(served_model_name === null ? [] : ["--served-model-name", served_model_name]),
		...(service.trust_remote_code ? ["--trust-remote-code"] : []),
		...extras.words,
	];
}

function singleNode(service: VllmConfig, extras: ServerExtras): string {
	const copies = service.number_of_instances;
	const words = [
		...serveWords(service, extras),
		...(copies > 1 ? ["--data-parallel-size", String(copies)] : []),
	];
	return `exec vllm ${commandText(words, service.extra_args.trim())}`;
}

/** One instance over all nodes, which Ray joins. */
function oneInstance(service: VllmConfig, nodes: number, extras: ServerExtras): string {
	const words = [...serveWords(service, extras), "--distributed-executor-backend", "ray"];
	return `${RAY_INSTALL}
${IN_CLUSTER}
in_cluster "$gym_head" ${nodes} vllm ${commandText(words, service.extra_args.trim())}`;
}

/** Engines on every node, of which the first serves. A headless one refuses to be told of API servers. */
function dataParallel(service: VllmConfig, nodes: number, extras: ServerExtras): string {
	const local = service.number_of_instances / nodes;
	const words = [
		...serveWords(service, extras),
		...["--data-parallel-size", String(service.number_of_instances)],
		...["--data-parallel-size-local", String(local)],
		...["--data-parallel-rpc-port", String(service.data_parallel_rpc_port)],
	];
	return `${WITHOUT}
serve() {
	if ((SLURM_PROCID == 0)); then exec vllm "$@"; fi
	without --api-server-count "$@"
	exec vllm "\${kept[@]}" --headless --data-parallel-start-rank "$((SLURM_PROCID * ${local}))"
}
serve ${quoteAll(words)} --data-parallel-address "$gym_head"${service.extra_args.trim() && ` ${service.extra_args.trim()}`}`;
}

function script(service: VllmConfig, range: NodeRange, extras: ServerExtras): string {
	switch (vllmShape(service, range)) {
		case "single-node":
			return singleNode(service, extras);
		case "one-instance":
			return oneInstance(service, range.count, extras);
		case "data-parallel":
			return dataParallel(service, range.count, extras);
		case "gateway":
			return gatewayScript(service, range, extras.words);
	}
}

/** The step of a service on the nodes of `range`. */
export function vllmStep(
	name: string,
	at: string,
	service: VllmConfig,
	range: NodeRange,
	extras: ServerExtras = NOTHING,
): StepDraft {
	const { first, count } = range;
	return {
		name,
		...commonParts(service, at),
		hosts: { first, count },
		addresses: count > 1 ? [first] : [],
		script: [
			...(count > 1 ? ["gym_head=$1"] : []),
			...extras.before,
			afterPreCommand(service, script(service, range, extras)),
		].join("\n"),
		health: healthOn(first, service.health_check, service.port),
	};
}

/** What the server's command line cannot hold. */
export function vllmProblems(service: Pick<VllmConfig, "extra_args">, at: string): readonly Problem[] {
	const fault = shellWordsFault(service.extra_args.trim());
	if (fault === null) return [];
	return [
		{
			code: `extra-args-${fault}`,
			severity: "error",
			at: `${at}.extra_args`,
			message:
				fault === "line-break"
					? "a line break outside of quotes would end the command"
					: "a quote is opened and never closed",
			remedy:
				fault === "line-break"
					? "write one line, or end lines with a backslash (in YAML: use >- for |)"
					: "close it",
		},
	];
}
