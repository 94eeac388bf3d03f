/** Whether a run that is not live goes on, and after which of its jobs. One table for plan, apply and waiting. Pure. */
import type { ChainLimits, RunRecord, Segment } from "../../state/document.ts";
import { UNUSED } from "./counters.ts";
import { DECIDED, type Decided } from "./end-record.ts";

/** What used up a chain's budget. */
export type Limit = "retries" | "cap" | "no-progress";

/** `goes-on`: stopped short while budget remains. `spent`: only more budget helps. `waits`: a person decides. */
export type Resumption =
	| { readonly kind: "goes-on" }
	| { readonly kind: "spent"; readonly by: Limit }
	| { readonly kind: "waits" };

/** What a job decided instead of working; null when it worked, or did not say. */
function decisionOf({ reason }: Segment): Decided | null {
	return (reason !== null && DECIDED.get(reason)) || null;
}

/**
 * The job after which a chain goes on: the last one that began and that no other has followed yet, because each job
 * is followed once. Null when no job ever began.
 */
export function lastOfChain(segments: readonly Segment[]): Segment | null {
	const began = segments.filter((segment) => segment.startedAt !== null);
	const open = began.filter((segment) => segment.decision === null && (decisionOf(segment)?.follows ?? true));
	return open.at(-1) ?? began.at(-1) ?? null;
}

/** Which limit keeps a chain from a further segment, were it to follow its last one now; null when none does. */
export function spentLimit(run: RunRecord, limits: ChainLimits): Limit | null {
	const last = lastOfChain(run.segments);
	const used = run.chain ?? UNUSED;
	const isCounted = last !== null && last.decision !== null;
	const fails = run.status === "failed" && !isCounted;
	if ((fails || last?.reason === "retries") && used.retries + (fails ? 1 : 0) > limits.maxRetries)
		return "retries";
	const saidItself = last !== null && decisionOf(last)?.limit;
	if (saidItself && limits.noProgress !== null && used.idle >= limits.noProgress) return "no-progress";
	const walltime = used.walltime + (isCounted ? 0 : (last?.elapsed ?? 0));
	if (limits.maxWalltime !== null && walltime >= limits.maxWalltime) return "cap";
	return null;
}

/**
 * What becomes of a run that is neither live nor succeeded.
 * @param limits of the gymfile, which a further segment reads; null: it is not resumable
 */
export function resumption(run: RunRecord, limits: ChainLimits | null): Resumption {
	if (limits === null || run.chain === null || !mayGoOn(run)) return { kind: "waits" };
	const by = spentLimit(run, limits);
	return by === null ? { kind: "goes-on" } : { kind: "spent", by };
}

function mayGoOn(run: RunRecord): boolean {
	const last = lastOfChain(run.segments);
	if (last === null) return false;
	switch (run.status) {
		case "failed":
		case "timeout":
		case "preempted":
		case "node-fail":
			return true;
		case "unknown":
			// That a job completed without a record of it is for a person to judge.
			return last.state !== "COMPLETED";
		case "stopped":
			return decisionOf(last)?.limit ?? false;
		default:
			return false;
	}
}
