/** A vLLM server on one node; several instances on it are its own data parallelism. */
import type { Problem } from "../../errors.ts";
import type { VllmConfig } from "../../submit/config.ts";
import type { NodeRange } from "../../submit/nodes.ts";
import { envEntries } from "../env.ts";
import type { ServiceStep } from "../model.ts";
import type { StepName } from "../names.ts";
import { quoteAll } from "../script/quote.ts";
import { shellWordsFault } from "../shell-words.ts";

function serveWords(service: VllmConfig): readonly string[] {
	const { served_model_name, pipeline_parallel_size, number_of_instances } = service;
	return [
		"serve",
		service.model,
		...["--port", String(service.port)],
		...["--tensor-parallel-size", String(service.tensor_parallel_size)],
		...(pipeline_parallel_size > 1 ? ["--pipeline-parallel-size", String(pipeline_parallel_size)] : []),
		...(number_of_instances > 1 ? ["--data-parallel-size", String(number_of_instances)] : []),
		...(served_model_name === null ? [] : ["--served-model-name", served_model_name]),
		...(service.trust_remote_code ? ["--trust-remote-code"] : []),
	];
}

/** The step of a server on the one node of `range`. */
export function vllmStep(names: StepName, at: string, service: VllmConfig, range: NodeRange): ServiceStep {
	const { health_check, pre_command } = service;
	const extra = service.extra_args.trim();
	const serve = `exec vllm ${quoteAll(serveWords(service))}${extra && ` ${extra}`}`;
	return {
		...names,
		at,
		hosts: { first: range.first, count: 1 },
		container: service.container,
		mounts: service.mounts,
		env: envEntries(service.env),
		script: pre_command.trim() === "" ? serve : `${pre_command.replace(/\n+$/, "")}\n${serve}`,
		health: health_check && {
			node: range.first,
			port: health_check.port ?? service.port,
			path: health_check.path,
			timeout: health_check.timeout_seconds,
		},
	};
}

/** What the server's command line cannot hold. */
export function vllmProblems(service: VllmConfig, at: string): readonly Problem[] {
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
