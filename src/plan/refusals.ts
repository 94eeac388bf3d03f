/** Why a planned action is not carried out, and the way out. */
import { isLive, type RunRecord } from "../../state/document.ts";
import { currentSegment } from "../chain/segments.ts";
import type { Problem } from "../errors.ts";
import type { Desired, PlannedAction, Reason } from "./plan.ts";

/** What makes an action a refused one. */
export type Refusal = Pick<PlannedAction, "reason"> & { readonly refused: Problem };

/** Does the run belong to somebody else than who plans? */
export function isOther(run: RunRecord, user: string | null): boolean {
	return user !== null && run.submittedBy !== null && run.submittedBy !== user;
}

/** Of another user nothing live is touched. */
export function refuseOtherOwner(address: string, run: RunRecord, user: string | null): Refusal | null {
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

/** A live run is only replaced where its lifecycle says so. */
export function refuseLive(
	address: string,
	desired: Desired,
	run: RunRecord,
	reason: Reason,
): Refusal | null {
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
	const id = currentSegment(run.segments)?.jobId;
	return id ? `job ${id}, ${run.status}` : run.status;
}
