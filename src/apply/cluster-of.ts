/** Where a stack's jobs run. */
import { resolve } from "node:path";
import { type ClusterRef, isLive, type StateDocument } from "../../state/document.ts";
import type { Problem } from "../errors.ts";
import type { Stack } from "../io.ts";
import { onlyCompute } from "../submit/nodes.ts";

/** Where the jobs of a stack run. */
export function clusterOf({ config, root }: Stack): ClusterRef {
	const [name, compute] = onlyCompute(config);
	const { type } = compute;
	const { output_path } = config.job;
	if (compute.type === "local") return { type, name, hostname: null, outputPath: resolve(root, output_path) };
	return { type, name, hostname: compute.hostname, outputPath: output_path };
}

/** Jobs of this machine are known by their output path, all others by their host. */
function placeOf({ type, hostname, outputPath }: ClusterRef): string {
	return type === "local" ? `in ${outputPath} on this machine` : `on ${hostname ?? "this machine"}`;
}

/** A state may know live runs in another place than the document names: those must be looked after there. */
export function checkMoved(state: StateDocument | null, cluster: ClusterRef): Problem | null {
	const live = [...(state?.benchmarks ?? [])].filter(([, { current }]) => current && isLive(current.status));
	if (!state?.cluster || live.length === 0) return null;
	const [before, now] = [placeOf(state.cluster), placeOf(cluster)];
	if (before === now && state.cluster.type === cluster.type) return null;
	return {
		code: "cluster-changed",
		severity: "error",
		at: cluster.type === "local" ? "job.output_path" : `compute.${cluster.name}.hostname`,
		message: `${live.length} live run(s) are ${before}, the document now says ${now}`,
		remedy: "cancel them or let them end before the stack moves",
	};
}
