/** Time that model servers have to start. */
import type { VllmConfig } from "../config.ts";
import { vllmServers } from "./gpus.ts";
import type { Rule } from "./report.ts";

/** The default of `timeout_seconds`, which suits small models. */
const DEFAULT_SECONDS = 60;

/** GPUs of one instance from which on its weights are many. */
const MANY_GPUS = 8;

/** Billions of parameters from which on no disk reads the weights within a minute (two bytes each). */
const MANY_BILLIONS = 30;

/** Billions of parameters that a model's name tells: `Llama-3.1-405B`; 0 when it tells none. */
function billions(model: string): number {
	const sizes = [...model.matchAll(/(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)[bB](?![A-Za-z0-9])/g)].map(([, size]) =>
		Number(size),
	);
	return Math.max(0, ...sizes);
}

/** Why a model takes long to load; null when nothing says so. */
function largeBecause(service: VllmConfig): string | null {
	const gpus = service.tensor_parallel_size * service.pipeline_parallel_size;
	const size = billions(service.model);
	if (size >= MANY_BILLIONS) return `${size} billion parameters`;
	return gpus >= MANY_GPUS ? `${gpus} GPUs for one instance` : null;
}

/** A large model is not refused its start for want of a longer limit. */
export const largeModelsTimed: Rule = (config, report) => {
	for (const { path, service } of vllmServers(config)) {
		const seconds = service.health_check?.timeout_seconds ?? DEFAULT_SECONDS;
		const large = largeBecause(service);
		if (large === null || seconds > DEFAULT_SECONDS) continue;
		const which = seconds === DEFAULT_SECONDS ? `${seconds} s, the default` : `${seconds} s`;
		const message = `a large model (${large}) has only ${which}, to load and answer; then the job fails`;
		report(
			"warning",
			"start-limit-short",
			[...path, "health_check"],
			message,
			"set health_check.timeout_seconds, e.g. 1800",
		);
	}
};
