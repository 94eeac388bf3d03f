/** How the state changes by what apply does. Pure. */
import {
	type AddressRecord,
	isLive,
	newSegment,
	type RunRecord,
	type Segment,
	type StateDocument,
} from "../../state/document.ts";
import { jobState } from "../cluster/job-state.ts";
import type { JobOutcome } from "../cluster/scheduler.ts";

/** A run that never had a job leaves no trace in the history. */
function worthKeeping(run: RunRecord | null): run is RunRecord {
	return run !== null && (run.segments.length > 0 || run.status !== "refused");
}

/** The state in which `run` is the current one of `benchmark`; an earlier run in another directory becomes history. */
export function withCurrent(state: StateDocument, benchmark: string, run: RunRecord | null): StateDocument {
	const record: AddressRecord = state.benchmarks.get(benchmark) ?? { current: null, history: [] };
	const { current } = record;
	const replaced = current?.runDir !== run?.runDir && worthKeeping(current);
	const next = { current: run, history: replaced ? [current, ...record.history] : record.history };
	return { ...state, benchmarks: new Map([...state.benchmarks, [benchmark, next]]) };
}

/** The runs that a new one took the place of are over: the exchange cancelled them. */
export function endReplaced(state: StateDocument, benchmark: string, at: number): StateDocument {
	const record = state.benchmarks.get(benchmark)!;
	const history = record.history.map((run) => (isLive(run.status) ? cancelled(run, [], at) : run));
	return { ...state, benchmarks: new Map([...state.benchmarks, [benchmark, { ...record, history }]]) };
}

/** The new run was refused: a live run whose place it was to take is the current one again. Null when there is none. */
export function backToReplaced(state: StateDocument, benchmark: string): StateDocument | null {
	const record = state.benchmarks.get(benchmark)!;
	const [earlier, ...history] = record.history;
	if (!earlier || !isLive(earlier.status)) return null;
	return { ...state, benchmarks: new Map([...state.benchmarks, [benchmark, { current: earlier, history }]]) };
}

/** A run as the submit exchange left it. */
export function submitted(run: RunRecord, outcome: JobOutcome, user: string): RunRecord {
	if (outcome.jobId === null) {
		return { ...run, status: "refused", error: outcome.error, note: null, submittedBy: user };
	}
	const { cluster, jobId, submittedAt, state, reason } = outcome;
	const segment: Segment = { ...newSegment(jobId), cluster, submittedAt, state, reason };
	const earlier = run.segments.filter((known) => known.jobId !== outcome.jobId);
	const status = outcome.state === null ? "pending" : jobState(outcome.state, outcome.reason).status;
	// A job that ended within the exchange is judged by the next look, with its end record at hand.
	const settled = ["held", "pending", "running", "completing"].includes(status) ? status : "pending";
	return {
		...run,
		status: settled,
		error: null,
		note: outcome.reason,
		submittedBy: user,
		segments: [...earlier, segment],
	};
}

/** A run after its jobs were cancelled by us. */
export function cancelled(run: RunRecord, ids: readonly string[], at: number): RunRecord {
	const segments = run.segments.map((segment) =>
		ids.includes(segment.jobId) || segment.endedAt === null
			? { ...segment, state: "CANCELLED", endedAt: segment.endedAt ?? at }
			: segment,
	);
	return { ...run, status: "cancelled", note: `cancelled by ${run.submittedBy ?? "us"}`, segments };
}
