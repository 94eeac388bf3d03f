/** Runs that no state knows: found by their records, judged by a look at the cluster. */
import {
	type AddressRecord,
	type ClusterRef,
	emptyState,
	type RunRecord,
	runsOf,
	type StateDocument,
} from "../../state/document.ts";
import { jobState } from "../cluster/job-state.ts";
import type { FoundSubmission, Observation, Scheduler } from "../cluster/scheduler.ts";
import { readResolvedConfig } from "../load/resolved-config.ts";
import { type Adoption, chooseRun, foundRuns, type Sought } from "../plan/adopt.ts";
import type { Desired } from "../plan/plan.ts";
import { observeState } from "./observe.ts";

/**
 * Runs of this stack and user that the state does not know: it may be lost, or another clone may have submitted. Two
 * more exchanges, and only when there is an address that never had a job, or a job in the queue that may be such a run's.
 */
export async function findUnknownRuns(
	stack: string,
	desired: readonly Desired[],
	state: StateDocument | null,
	scheduler: Scheduler,
	{ outputPath }: ClusterRef,
	{ user, queue }: Observation,
): Promise<ReadonlyMap<string, Adoption>> {
	const knownDirs = new Set([...(state?.benchmarks.values() ?? [])].flatMap(runsOf).map((run) => run.jobDir));
	const live = (queue ?? []).filter((row) => row.user === user && jobState(row.state).live);
	const queuedDirs = new Set(live.map((row) => row.workDir));
	const below = `${outputPath.replace(/\/+$/, "")}/gym-job-`;
	const strays = [...queuedDirs].filter((dir) => dir.startsWith(below) && !knownDirs.has(dir));
	const sought = desired.filter(
		({ benchmark }) =>
			neverHadJob(state?.benchmarks.get(benchmark)?.current) ||
			strays.some((dir) => dir.endsWith(`/${benchmark}`)),
	);
	if (sought.length === 0) return new Map();
	const submissions = await scheduler.find({ stack, outputPath });
	return judge(sought, submissions, scheduler, stack, { user, knownDirs, queuedDirs }, state);
}

/** Of a submission that has not come to its end the run directory is known; one that was refused left nothing. */
function neverHadJob(run: RunRecord | null | undefined): boolean {
	return !run || (run.status === "refused" && run.segments.length === 0);
}

/** What the submissions hold for each benchmark, as the cluster knows it now. */
export async function judge(
	desired: readonly Desired[],
	submissions: readonly FoundSubmission[],
	scheduler: Scheduler,
	stack: string,
	sought: Sought,
	state: StateDocument | null,
): Promise<ReadonlyMap<string, Adoption>> {
	const records = desired.flatMap((one): [string, AddressRecord][] => {
		const [current, ...history] = foundRuns(one, submissions, sought, readResolvedConfig);
		return current ? [[one.benchmark, { current, history }]] : [];
	});
	if (records.length === 0) return new Map();
	const asRecorded = { ...emptyState(stack), benchmarks: new Map(records) };
	const { state: seen, observation } = await observeState(asRecorded, scheduler, null);
	// Where a cancel left its mark before there was a job, none can be queued any more.
	const isOpen = (run: RunRecord) =>
		run.segments.length > 0 || !observation.runs.get(run.jobDir)?.control?.includes("stop");
	return new Map(
		desired.flatMap(({ benchmark, fingerprint }): [string, Adoption][] => {
			const record = seen.benchmarks.get(benchmark);
			if (!record?.current) return [];
			const known = state?.benchmarks.get(benchmark)?.current ?? null;
			return [[benchmark, chooseRun([record.current, ...record.history].filter(isOpen), fingerprint, known)]];
		}),
	);
}
