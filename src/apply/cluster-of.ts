/** Where a stack's jobs run, and how a stack moves to another place. */
import { resolve } from "node:path";
import { type ClusterRef, isLive, type StateDocument } from "../../state/document.ts";
import type { Refreshed } from "../chain/refresh.ts";
import type { Scheduler } from "../cluster/scheduler.ts";
import { GymError } from "../errors.ts";
import type { Stack } from "../io.ts";
import { onlyCompute } from "../submit/nodes.ts";
import { observeState } from "./observe.ts";

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

/** Addresses with a run that may still have a job, be it one whose place another was to take. */
function liveAddresses({ stack, benchmarks }: StateDocument): readonly string[] {
	return [...benchmarks].flatMap(([name, { current, history }]) =>
		[current, ...history].some((run) => run && isLive(run.status)) ? [`${stack}/${name}`] : [],
	);
}

function unchanged(state: StateDocument): Refreshed {
	return { state, drift: [], changed: false };
}

/**
 * A stack moves once nothing of it is live where it was. What the state takes for live there is looked at once, so
 * that runs which have ended by now hold nothing up.
 * @param connect gives null for a place that is not to be asked: then the state is taken at its word
 * @returns the state with what was seen in the old place; as it was when the stack does not move
 * @throws GymError exit `refused`, code `cluster-changed`
 */
export async function leaveOldPlace(
	state: StateDocument,
	cluster: ClusterRef,
	connect: (cluster: ClusterRef) => Scheduler | null,
): Promise<Refreshed> {
	const old = state.cluster;
	if (!old || liveAddresses(state).length === 0) return unchanged(state);
	const [before, now] = [placeOf(old), placeOf(cluster)];
	if (before === now && old.type === cluster.type) return unchanged(state);
	const { seen, unseen } = await lookThere(state, connect(old));
	const live = liveAddresses(seen.state);
	if (live.length === 0) return seen;
	const [is, them] = live.length === 1 ? ["is", "it"] : ["are", "them"];
	const silence = unseen === null ? "" : `; that place could not be asked: ${unseen}`;
	throw new GymError("refused", {
		code: "cluster-changed",
		severity: "error",
		at: cluster.type === "local" ? "job.output_path" : `compute.${cluster.name}.hostname`,
		message: `${live.join(", ")} ${is} live ${before}, the document now says ${now}${silence}`,
		remedy: `gym cancel ${live.join(" ")}, or let ${them} end before the stack moves`,
	});
}

/** One look at the old place; a place that does not answer has nothing to say about its runs, but why. */
async function lookThere(
	state: StateDocument,
	scheduler: Scheduler | null,
): Promise<{ readonly seen: Refreshed; readonly unseen: string | null }> {
	if (!scheduler) return { seen: unchanged(state), unseen: null };
	try {
		return { seen: await observeState(state, scheduler, null), unseen: null };
	} catch (error) {
		if (!GymError.is(error)) throw error;
		return { seen: unchanged(state), unseen: error.problems[0]!.message };
	}
}
