/** Runs that no state knows: found by their records, judged by a look at the cluster. */
import { type AddressRecord, type ClusterRef, emptyState, type StateDocument } from "../../state/document.ts";
import type { FoundSubmission, Scheduler } from "../cluster/scheduler.ts";
import { readResolvedConfig } from "../load/resolved-config.ts";
import { type Adoption, chooseRun, foundRuns } from "../plan/adopt.ts";
import type { Desired } from "../plan/plan.ts";
import { observeState } from "./observe.ts";

/**
 * Runs of this stack and user for addresses that the state does not know: it may be lost, or another machine may
 * have submitted. Two more exchanges, and only when there is such an address.
 */
export async function findUnknownRuns(
	stack: string,
	desired: readonly Desired[],
	state: StateDocument | null,
	scheduler: Scheduler,
	{ outputPath }: ClusterRef,
	user: string,
): Promise<ReadonlyMap<string, Adoption>> {
	const unknown = desired.filter((one) => !state?.benchmarks.has(one.benchmark));
	if (unknown.length === 0) return new Map();
	return judge(unknown, await scheduler.find({ stack, outputPath }), scheduler, stack, user);
}

/** What the submissions hold for each benchmark, as the cluster knows it now. */
export async function judge(
	desired: readonly Desired[],
	submissions: readonly FoundSubmission[],
	scheduler: Scheduler,
	stack: string,
	user: string,
): Promise<ReadonlyMap<string, Adoption>> {
	const records = desired.flatMap((one): [string, AddressRecord][] => {
		const [current, ...history] = foundRuns(one, submissions, user, readResolvedConfig);
		return current ? [[one.benchmark, { current, history }]] : [];
	});
	if (records.length === 0) return new Map();
	const asRecorded = { ...emptyState(stack), benchmarks: new Map(records) };
	const { benchmarks } = (await observeState(asRecorded, scheduler, null)).state;
	return new Map(
		desired.flatMap(({ benchmark, fingerprint }): [string, Adoption][] => {
			const record = benchmarks.get(benchmark);
			return record?.current
				? [[benchmark, chooseRun([record.current, ...record.history], fingerprint)]]
				: [];
		}),
	);
}
