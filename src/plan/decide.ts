/** What apply would do to each address: desired × state, one table. */

import { isLive, type RunRecord, type RunStatus, type StateDocument } from "../../state/document.ts";
import type { Problem } from "../errors.ts";
import { addressMatcher } from "./address-match.ts";
import type { Adoption } from "./adopt.ts";
import { diffDocuments } from "./document-diff.ts";
import { readDocument } from "./document-text.ts";
import type { Change, Desired, PlannedAction, Reason } from "./plan.ts";
import { diffFiles } from "./text-diff.ts";

export interface DecideOptions {
	/** Name of the stack; addresses are `<stack>/<benchmark>`. */
	readonly stack: string;
	/** Address patterns that are submitted again although nothing changed (`-replace`). */
	readonly replace: readonly string[];
	/** Runs that were found for addresses which the state does not know. */
	readonly found?: ReadonlyMap<string, Adoption>;
	/** Address patterns of runs that a person decided to go on with (`gym resume`). */
	readonly resume?: readonly string[];
	/** Who plans, as the cluster knows them; null when it was not asked, then no owner is checked. */
	readonly user: string | null;
}

/** What a status means for an unchanged job: submit again, leave alone, or the reason why a person decides. */
type Standing = "unfinished" | "settled" | Reason;

const STANDING: Readonly<Record<RunStatus, Standing>> = {
	submitting: "unfinished",
	held: "unfinished",
	refused: "unfinished",
	pending: "settled",
	running: "settled",
	completing: "settled",
	succeeded: "settled",
	failed: "failed",
	timeout: "timed-out",
	cancelled: "cancelled",
	preempted: "preempted",
	"node-fail": "node-failed",
	stopped: "stopped",
	unknown: "lost",
};

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
		const run = state?.benchmarks.get(one.benchmark)?.current ?? null;
		return run
			? isResumed(address)
				? decideResumed(address, one, run, options.user)
				: decideKnown(address, one, run, isReplaced(address), options.user)
			: decideNew(address, one, options.found?.get(one.benchmark)?.current ?? null);
	});
	for (const [benchmark, record] of state?.benchmarks ?? []) {
		if (wanted.has(benchmark) || !record.current || !isLive(record.current.status)) continue;
		actions.push(decideRemoved(`${options.stack}/${benchmark}`, benchmark, record.current, options.user));
	}
	return actions;
}

function decideNew(address: string, desired: Desired, found: RunRecord | null): PlannedAction {
	if (!found) return action(address, desired, null, "submit", "not-in-state");
	return { ...action(address, desired, found, "adopt", "found"), files: [], scriptNote: false };
}

function decideKnown(
	address: string,
	desired: Desired,
	run: RunRecord,
	replaced: boolean,
	user: string | null,
): PlannedAction {
	// Equal documents under other fingerprints differ in the fingerprint's version only: no change.
	const changes = run.fingerprint === desired.fingerprint ? [] : changesSince(run, desired);
	const standing = STANDING[run.status];
	if (changes.length > 0 || replaced) {
		const reason = changes.length > 0 ? "changed" : "replace-requested";
		const known = { ...action(address, desired, run, "resubmit", reason), changes };
		const refusal = refuseOtherOwner(address, run, user) ?? refuseLive(address, desired, run, reason);
		return { ...known, ...refusal, cacheValid: changes.every((change) => change.class !== "results") };
	}
	if (standing === "unfinished") {
		const again = action(address, desired, run, "submit", "unfinished-submission");
		if (!isOther(run, user)) return again;
		// The other user's run directory cannot be written: a new one, unless a job of theirs may exist.
		return { ...again, kind: "resubmit", reason: "other-owner", ...refuseOtherOwner(address, run, user) };
	}
	if (standing === "settled") return action(address, desired, run, "none", "unchanged");
	return action(address, desired, run, "decide", standing);
}

/**
 * Goes on in the same run directory, with the cache; only what stopped short and is still the same job can. A
 * submission that was cut short, an earlier resume's too, is finished.
 */
function decideResumed(
	address: string,
	desired: Desired,
	run: RunRecord,
	user: string | null,
): PlannedAction {
	const standing = STANDING[run.status];
	const changed = run.fingerprint !== desired.fingerprint && changesSince(run, desired).length > 0;
	const refuse = (message: string, remedy: string): PlannedAction => ({
		...action(address, desired, run, "resume", "unchanged"),
		refused: { code: "not-resumable", severity: "error", at: "", message, remedy },
	});
	if (standing === "settled") {
		return refuse(`${address} is ${run.status}: there is nothing to resume`, "gym status shows what runs");
	}
	if (changed)
		return refuse(`${address} has changed since that run`, "gym apply submits the changed job anew");
	if (isOther(run, user)) {
		const remedy = `gym apply -replace ${address} submits a run of your own`;
		return refuse(
			`${address} was submitted by ${run.submittedBy}, whose run directory you cannot write`,
			remedy,
		);
	}
	if (standing === "unfinished") return action(address, desired, run, "submit", "unfinished-submission");
	return action(address, desired, run, "resume", standing);
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

function action(
	address: string,
	desired: Desired,
	run: RunRecord | null,
	kind: PlannedAction["kind"],
	reason: Reason,
): PlannedAction {
	const files = diffFiles(run?.rendered ?? {}, desired.rendered);
	return {
		address,
		benchmark: desired.benchmark,
		kind,
		reason,
		run,
		desired,
		changes: [],
		files,
		cacheValid: run ? true : null,
		scriptNote: run !== null && reason !== "changed" && files.length > 0,
	};
}

function changesSince(run: RunRecord, desired: Desired): readonly Change[] {
	return diffDocuments(readDocument(run.document), desired.document, desired.sources);
}

type Refusal = Pick<PlannedAction, "reason"> & { readonly refused: Problem };

function isOther(run: RunRecord, user: string | null): boolean {
	return user !== null && run.submittedBy !== null && run.submittedBy !== user;
}

function refuseOtherOwner(address: string, run: RunRecord, user: string | null): Refusal | null {
	if (!isLive(run.status) || !isOther(run, user)) return null;
	const refused: Problem = {
		code: "other-owner",
		severity: "error",
		at: "",
		message: `${address} is live and belongs to ${run.submittedBy} (${jobOf(run)})`,
		remedy: `ask ${run.submittedBy} to apply or cancel it`,
	};
	return { reason: "other-owner", refused };
}

function refuseLive(address: string, desired: Desired, run: RunRecord, reason: Reason): Refusal | null {
	if (!isLive(run.status) || desired.onChange === "replace") return null;
	const place = desired.sources?.locate(["driver", "benchmarks", desired.benchmark]);
	const why = reason === "changed" ? "has changed" : "is to be replaced";
	const refused: Problem = {
		code: "live-chain",
		severity: "error",
		at: "",
		message: `${address} ${why} while its run is live (${jobOf(run)})`,
		remedy: `gym cancel ${address} first, wait until it has ended, or set lifecycle.onChange: "replace"`,
		...(place?.source ? { source: place.source } : {}),
		...(place?.construct ? { construct: place.construct } : {}),
	};
	return { reason: "live-chain", refused };
}

function jobOf(run: RunRecord): string {
	const id = run.segments.at(-1)?.jobId;
	return id ? `job ${id}, ${run.status}` : run.status;
}
