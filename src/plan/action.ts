/** A planned action from what is wanted and what is there. */
import type { RunRecord } from "../../state/document.ts";
import { diffDocuments } from "./document-diff.ts";
import { readDocument } from "./document-text.ts";
import type { Change, Desired, PlannedAction, Reason } from "./plan.ts";
import { diffFiles } from "./text-diff.ts";

/** Is the text of its job known? Of a run that was adopted it may not be. */
export function isRenderedKnown(run: RunRecord): boolean {
	return Object.keys(run.rendered).length > 0;
}

/** An action with the differences of the rendered files; a run that is kept keeps its cache. */
export function action(
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
		// A resubmission has a run directory of its own.
		cacheValid: run ? kind !== "resubmit" : null,
		scriptNote: run !== null && isRenderedKnown(run) && reason !== "changed" && files.length > 0,
	};
}

/** What changed in the submit document since a run was submitted. */
export function changesSince(run: RunRecord, desired: Desired): readonly Change[] {
	// Equal documents under other fingerprints differ in the fingerprint's version only: no change.
	return run.fingerprint === desired.fingerprint
		? []
		: diffDocuments(readDocument(run.document), desired.document, desired.sources);
}
