/** What apply would do to each address: desired × state, one table. */

import { isLive, type RunRecord, type StateDocument } from "../../state/document.ts";
import { action, changesSince } from "./action.ts";
import { addressMatcher } from "./address-match.ts";
import type { Adoption } from "./adopt.ts";
import { decideResumed, decideStopped } from "./decide-stopped.ts";
import { differs, isSameRun } from "./in-place.ts";
import type { Desired, PlannedAction } from "./plan.ts";
import { isOther, refuseLive, refuseOtherOwner } from "./refusals.ts";
import { STANDING } from "./standing.ts";

export interface DecideOptions {
	/** Name of the stack; addresses are `<stack>/<benchmark>`. */
	readonly stack: string;
	/** Address patterns that are submitted again although nothing changed (`-replace`). */
	readonly replace: readonly string[];
	/** Runs that the state does not know, and that are to be taken in. */
	readonly found?: ReadonlyMap<string, Adoption>;
	/** Address patterns of runs that a person decided to go on with (`gym resume`). */
	readonly resume?: readonly string[];
	/** These forget what they have used up (`--reset-counters`). */
	readonly resetCounters?: boolean;
	/** Who plans, as the cluster knows them; null when it was not asked, then no owner is checked. */
	readonly user: string | null;
}

/**
 * The actions of one stack, in the order of the gymfile, then what is no longer in it and still live.
 * A refused action carries its problem; apply carries out none of the others while one is refused.
 * @param desired what the gymfile wants, in its order
 * @param state after the refresh; null when nothing was applied yet
 */
export function decide(
	desired: readonly Desired[],
	state: StateDocument | null,
	options: DecideOptions,
): readonly PlannedAction[] {
	const isReplaced = addressMatcher(options.replace);
	const isResumed = addressMatcher(options.resume ?? []);
	const wanted = new Set(desired.map((one) => one.benchmark));
	const actions = desired.map((one) => {
		const address = `${options.stack}/${one.benchmark}`;
		const found = options.found?.get(one.benchmark)?.current ?? null;
		if (found) return decideFound(address, one, found);
		const run = state?.benchmarks.get(one.benchmark)?.current ?? null;
		if (!run) return action(address, one, null, "submit", "not-in-state");
		return isResumed(address)
			? decideResumed(address, one, run, { resetCounters: options.resetCounters ?? false }, options.user)
			: decideKnown(address, one, run, isReplaced(address), options.user);
	});
	for (const [benchmark, record] of state?.benchmarks ?? []) {
		if (wanted.has(benchmark) || !record.current || !isLive(record.current.status)) continue;
		actions.push(decideRemoved(`${options.stack}/${benchmark}`, benchmark, record.current, options.user));
	}
	return actions;
}

/** Taken in as it is; a submission of the same job that was cut short is also finished, in its own directory. */
function decideFound(address: string, desired: Desired, found: RunRecord): PlannedAction {
	const isCut = STANDING[found.status] === "unfinished" && found.fingerprint === desired.fingerprint;
	const kind = found.segments.length > 0 ? "adopt" : "submit";
	const taken = action(address, desired, found, kind, isCut ? "unfinished-submission" : "found");
	return { ...taken, files: [], scriptNote: false };
}

function decideKnown(
	address: string,
	desired: Desired,
	run: RunRecord,
	replaced: boolean,
	user: string | null,
): PlannedAction {
	const changes = changesSince(run, desired);
	if (replaced || !isSameRun(changes, desired, run)) {
		const reason = changes.length > 0 ? "changed" : "replace-requested";
		const known = { ...action(address, desired, run, "resubmit", reason), changes };
		const refusal = refuseOtherOwner(address, run, user) ?? refuseLive(address, desired, run, reason);
		return { ...known, ...refusal };
	}
	const standing = STANDING[run.status];
	if (standing === "unfinished") {
		if (!isOther(run, user)) return action(address, desired, run, "submit", "unfinished-submission");
		// The other user's run directory cannot be written: a new one, unless a job of theirs may exist.
		const anew = action(address, desired, run, "resubmit", "other-owner");
		return { ...anew, ...refuseOtherOwner(address, run, user) };
	}
	if (standing !== "settled") return decideStopped(address, desired, run, standing, changes, user);
	if (!isLive(run.status) || !differs(changes, desired, run)) {
		return action(address, desired, run, "none", "unchanged");
	}
	const update = { ...action(address, desired, run, "update", "limits-changed"), changes, scriptNote: false };
	return { ...update, ...refuseOtherOwner(address, run, user) };
}

function decideRemoved(
	address: string,
	benchmark: string,
	run: RunRecord,
	user: string | null,
): PlannedAction {
	return {
		address,
		benchmark,
		kind: "cancel",
		reason: "not-in-gymfile",
		run,
		desired: null,
		changes: [],
		files: [],
		cacheValid: null,
		scriptNote: false,
		...refuseOtherOwner(address, run, user),
	};
}
