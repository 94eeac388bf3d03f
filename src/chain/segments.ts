/** The segments of a run as people count them. Pure. */
import type { RunRecord, Segment } from "../../state/document.ts";
import { jobState } from "../cluster/job-state.ts";
import { readDocument } from "../plan/document-text.ts";
import type { Value } from "../submit/config.ts";
import { limitSeconds } from "../submit/duration.ts";
import { DECIDED } from "./end-record.ts";

/** Did it get nodes and work on the benchmark? What only decided to end the chain did not. */
export function hasWorked({ startedAt, reason }: Segment): boolean {
	return startedAt !== null && !(reason !== null && DECIDED.has(reason));
}

/** The job that a run is at: the running one, else the waiting one, else the last that worked. */
export function currentSegment(segments: readonly Segment[]): Segment | null {
	const live = segments.filter(
		({ state, endedAt }) => endedAt === null && state !== null && jobState(state).live,
	);
	const worked = segments.filter(hasWorked);
	return (
		live.find(({ startedAt }) => startedAt !== null) ?? live[0] ?? worked.at(-1) ?? segments.at(-1) ?? null
	);
}

/** How many jobs of a run have worked, with the one that it is at; 0 before the first. */
export function segmentCount({ segments }: RunRecord): number {
	const current = currentSegment(segments);
	if (current === null) return 0;
	return segments.filter((segment) => hasWorked(segment) || segment === current).length;
}

/**
 * Jobs that a chain may have in all, when each ends by its time limit or a failure; null without a bound, or when it
 * is not known. Jobs that were preempted or lost their node come on top.
 */
export function segmentBound(run: RunRecord): number | null {
	const budget = run.chain?.budget ?? null;
	if (budget === null) return null;
	const walltime = walltimeOf(run);
	if (walltime === undefined) return null;
	if (walltime === null) return budget.maxRetries + 1;
	return budget.maxWalltime === null ? null : budget.maxRetries + Math.ceil(budget.maxWalltime / walltime);
}

/** Seconds that one job may run; null for no limit, undefined when the document does not tell. */
function walltimeOf({ document }: RunRecord): number | null | undefined {
	const compute = readDocument(document).get("compute");
	const [entry] = compute instanceof Map ? (compute as ReadonlyMap<string, Value>).values() : [];
	const walltime = entry instanceof Map ? (entry as ReadonlyMap<string, Value>).get("walltime") : undefined;
	if (walltime === null) return null;
	return typeof walltime === "string" ? limitSeconds(walltime) || null : undefined;
}
