/** What is done with a run that stopped short: the chain goes on by itself, or a person decides. */
import type { ChainLimits, RunRecord } from "../../state/document.ts";
import { UNUSED } from "../chain/counters.ts";
import { type Limit, resumption, spentLimit } from "../chain/resume.ts";
import { formatDuration } from "../submit/duration.ts";
import { action, changesSince } from "./action.ts";
import { isLimit } from "./change-class.ts";
import type { Change, Desired, PlannedAction, Reason } from "./plan.ts";
import { isOther } from "./refusals.ts";
import { STANDING } from "./standing.ts";

/**
 * The action for an unchanged run that is neither live nor succeeded.
 * @param reason why it is over
 * @param changes of its limits: a raised one lets it go on
 */
export function decideStopped(
	address: string,
	desired: Desired,
	run: RunRecord,
	reason: Reason,
	changes: readonly Change[],
	user: string | null,
): PlannedAction {
	const found = resumption(run, desired.limits);
	// The run directory of another user cannot be written.
	if (found.kind !== "goes-on" || isOther(run, user)) return action(address, desired, run, "decide", reason);
	return {
		...action(address, desired, run, "resume", reason),
		changes,
		goOn: { decided: false, resetCounters: false },
	};
}

/** What a person asked for with `gym resume`. */
export interface ResumeRequest {
	/** Forget what the chain has used up. */
	readonly resetCounters: boolean;
}

/**
 * Goes on in the same run directory, with the cache; only what stopped short and is still the same job can. A
 * submission that was cut short, an earlier resume's too, is finished.
 */
export function decideResumed(
	address: string,
	desired: Desired,
	run: RunRecord,
	{ resetCounters }: ResumeRequest,
	user: string | null,
): PlannedAction {
	const standing = STANDING[run.status];
	const changes = changesSince(run, desired);
	const refuse = (code: string, message: string, remedy: string): PlannedAction => ({
		...action(address, desired, run, "resume", "unchanged"),
		refused: { code, severity: "error", at: "", message, remedy },
	});
	if (standing === "settled") {
		const message = `${address} is ${run.status}: there is nothing to resume`;
		return refuse("not-resumable", message, "gym status shows what runs");
	}
	if (!changes.every((change) => isLimit(change.path))) {
		const remedy = "gym apply submits the changed job anew";
		return refuse("not-resumable", `${address} has changed since that run`, remedy);
	}
	if (isOther(run, user)) {
		const message = `${address} was submitted by ${run.submittedBy}, whose run directory you cannot write`;
		return refuse("not-resumable", message, `gym apply -replace ${address} submits a run of your own`);
	}
	if (standing === "unfinished") {
		const again = action(address, desired, run, "submit", "unfinished-submission");
		return { ...again, goOn: { decided: true, resetCounters } };
	}
	const { limits } = desired;
	const by = limits && spentLimit(resetCounters ? { ...run, chain: UNUSED } : run, limits);
	// That one failure is more than none may be a person's own decision.
	if (limits && by && !(resetCounters && by === "retries")) {
		return refuse("budget-spent", ...spentWords(address, run, limits, by, resetCounters));
	}
	const decided = resetCounters || resumption(run, limits).kind !== "goes-on";
	return { ...action(address, desired, run, "resume", standing), changes, goOn: { decided, resetCounters } };
}

function spentWords(
	address: string,
	run: RunRecord,
	limits: ChainLimits,
	by: Limit,
	isReset: boolean,
): readonly [message: string, remedy: string] {
	const used = run.chain ?? UNUSED;
	const reset = isReset ? "" : `gym resume ${address} --reset-counters, or `;
	switch (by) {
		case "retries":
			return [
				`${address} has spent all of its ${limits.maxRetries} retries`,
				`${reset}raise resumable.max_retries in the gymfile`,
			];
		case "cap":
			return [
				`${address} has used up its max_walltime of ${formatDuration(limits.maxWalltime ?? 0)}`,
				`${reset}raise resumable.max_walltime in the gymfile`,
			];
		case "no-progress":
			return [
				`${address} reached its time limit ${used.idle} times in a row without progress`,
				`${reset}raise lifecycle.noProgressLimit in the gymfile`,
			];
	}
}
