/** What a run can take up without a new submission. */
import { isDeepStrictEqual } from "node:util";
import type { RunRecord } from "../../state/document.ts";
import type { Value } from "../submit/config.ts";
import { isLimit, isQueuedEdit } from "./change-class.ts";
import type { Change, Desired } from "./plan.ts";

/**
 * Is the changed job still the one of this run? Limits of a chain only say how far it goes. Walltime and comment
 * are taken up by what is queued, and by the next segment of a chain.
 */
export function isSameRun(changes: readonly Change[], desired: Desired, run: RunRecord): boolean {
	const isWorking = run.status === "running" || run.status === "completing";
	const canQueue = run.status === "pending" || (isWorking && desired.limits !== null);
	return changes.every(
		(change) =>
			isLimit(change.path) || (canQueue && isQueuedEdit(change.path) && isSettable(change, desired)),
	);
}

/**
 * Is there anything for a live run to take up? Its limits are compared with those that its segments read: a chain whose
 * own are lost gets them back.
 */
export function differs(changes: readonly Change[], desired: Desired, run: RunRecord): boolean {
	if (changes.length > 0) return true;
	const { chain } = run;
	return chain !== null && desired.limits !== null && !isDeepStrictEqual(chain.budget, desired.limits);
}

/** Slurm is told a new value, but not to take one away; local jobs are no jobs of Slurm's. */
function isSettable({ after, path }: Change, { document }: Desired): boolean {
	const compute = mapAt(mapAt(document, "compute"), String(path[1]));
	const isValue = typeof after === "string" || typeof after === "number";
	return isValue && mapAt(compute, "type") === "slurm";
}

function mapAt(value: Value | undefined, key: string): Value | undefined {
	return value instanceof Map ? (value as ReadonlyMap<string, Value>).get(key) : undefined;
}
