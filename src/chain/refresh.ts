/** One look at the cluster → the state as it is now, and what changed since it was written. Pure. */
import { isDeepStrictEqual } from "node:util";
import {
	type AddressRecord,
	type ChainRecord,
	isLive,
	type RunRecord,
	type RunStatus,
	runsOf,
	type Segment,
	type StateDocument,
} from "../../state/document.ts";
import { jobState } from "../cluster/job-state.ts";
import type { AccountingRow, QueueRow } from "../cluster/jobs.ts";
import type { Observation, RunFiles, RunQuery } from "../cluster/scheduler.ts";
import type { Drift } from "../plan/plan.ts";
import { readChain } from "./counters.ts";
import { parseEndRecord } from "./end-record.ts";
import { type Journal, type JournalEntry, readJournal } from "./journal.ts";
import { foldRollouts, NO_PROGRESS } from "./progress.ts";
import { currentSegment } from "./segments.ts";
import { isStuck, type JobEvidence, runStatus } from "./status.ts";

/** Statuses that no later look changes. */
const SETTLED: ReadonlySet<RunStatus> = new Set([
	"succeeded",
	"failed",
	"cancelled",
	"timeout",
	"preempted",
	"node-fail",
	"stopped",
]);

/**
 * What to ask the cluster about: every current run, unless its story is over and was read to its end; and earlier
 * runs that were still live when last seen, because an apply was stopped while it replaced them.
 */
export function queriesFor(state: StateDocument | null): readonly RunQuery[] {
	const runs = [...(state?.benchmarks.values() ?? [])].flatMap(({ current, history }) => [
		...(current && !(isOver(current) && isReadToEnd(current)) ? [current] : []),
		...history.filter((run) => isLive(run.status)),
	]);
	return runs.map(queryFor);
}

/** A chain may go on by itself after any end but success. */
function isOver(run: RunRecord): boolean {
	return run.chain ? run.status === "succeeded" : SETTLED.has(run.status);
}

function queryFor(run: RunRecord): RunQuery {
	return {
		jobDir: run.jobDir,
		runDir: run.runDir,
		jobIds: run.segments.map((segment) => segment.jobId),
		rolloutsOffset: run.progress?.offset ?? 0,
	};
}

/**
 * What to ask after a look that did not carry all rollouts of a run whose story is over: its result is only known
 * when they are counted to the end, and no later look comes for them.
 */
export function cutQueries(state: StateDocument, observation: Observation): readonly RunQuery[] {
	return [...state.benchmarks.values()]
		.flatMap(runsOf)
		.filter((run) => SETTLED.has(run.status) && observation.runs.get(run.jobDir)?.rolloutsCut)
		.map(queryFor);
}

/** A settled run is looked at once more after it settled, so that its last rollouts are counted. */
function isReadToEnd(run: RunRecord): boolean {
	return run.segments.every((segment) => segment.endedAt !== null) && run.progress !== null;
}

/** What a run goes through when all is well. */
const EXPECTED: readonly RunStatus[] = [
	"submitting",
	"held",
	"pending",
	"running",
	"completing",
	"succeeded",
];

/** Does the new status need telling? Going on as planned does not. */
function isDrift(from: RunStatus, to: RunStatus): boolean {
	return (
		!(EXPECTED.includes(to) && EXPECTED.indexOf(to) > EXPECTED.indexOf(from) && EXPECTED.includes(from)) &&
		from !== to
	);
}

/** A state after a look. */
export interface Refreshed {
	readonly state: StateDocument;
	/** Changes that nobody planned: failures, cancels, a job that is back. */
	readonly drift: readonly Drift[];
	/** Differs the state from what is written? */
	readonly changed: boolean;
}

/** The state after a look, with the drift that it shows. Serial, lineage and fence stay as they were. */
export function refreshState(state: StateDocument, observation: Observation): Refreshed {
	const drift: Drift[] = [];
	const benchmarks = new Map<string, AddressRecord>();
	for (const [benchmark, { current, history }] of state.benchmarks) {
		const look = (run: RunRecord): RunRecord => {
			const files = observation.runs.get(run.jobDir);
			if (!files) return run;
			const now = refreshRun(run, files, observation);
			const address = `${state.stack}/${benchmark}`;
			if (isDrift(run.status, now.status))
				drift.push({ address, from: run.status, to: now.status, message: driftMessage(now) });
			return now;
		};
		benchmarks.set(benchmark, { current: current && look(current), history: history.map(look) });
	}
	return {
		state: { ...state, benchmarks },
		drift,
		changed: !isDeepStrictEqual(benchmarks, state.benchmarks),
	};
}

function driftMessage(run: RunRecord): string {
	const job = currentSegment(run.segments);
	const who = job ? `job ${job.jobId}` : "the submission";
	return `${who} is ${run.status}${run.note ? `: ${run.note}` : ""}`;
}

type Seen = JobEvidence & {
	readonly queue: QueueRow | null;
	readonly accounting: AccountingRow | null;
	readonly journal: JournalEntry | null;
};

function refreshRun(run: RunRecord, files: RunFiles, observation: Observation): RunRecord {
	const owner = run.submittedBy ?? observation.user;
	const journal = readJournal(files.chain);
	const chain = chainNow(run, files, owner === observation.user);
	// Ids from the state, the exchange's record, the files of a chain, and the queue by working directory: any of
	// them may know first.
	const queued = (observation.queue ?? []).filter((row) => row.workDir === run.jobDir);
	const known = run.segments.map((segment) => segment.jobId);
	const heardOf = [
		...files.recordedIds,
		...files.ends.keys(),
		...journal.keys(),
		...queued.map((row) => row.jobId),
	];
	const found = [...new Set(heardOf)].filter((id) => !known.includes(id));
	const ids = [...known, ...inOrder(found, [...journal.keys()])];
	const jobs = ids.map((id) => evidenceOf(id, run, files, journal, queued, observation));
	const queueHeard = observation.queue !== null && owner === observation.user;
	const heard = runStatus({
		before: run.status,
		jobs,
		queueHeard,
		accountingHeard: observation.accounting !== null,
		exchangeFinished: run.status !== "submitting",
		error: run.status === "refused" && found.length === 0 ? run.error : null,
		stopMarked: files.control?.includes("stop") ?? false,
		chain,
	});
	// What was once known of the end is not unlearned when Slurm forgets the job.
	// A further attempt of which nothing is there yet says nothing by how the attempts before it ended.
	const isAwaited = run.status === "submitting" && found.length === 0;
	const isForgotten = SETTLED.has(run.status) && heard.status === "unknown";
	const verdict = isAwaited
		? { status: run.status, note: "the submission has not come to its end" }
		: isForgotten
			? { status: run.status, note: run.note }
			: heard;
	const segments = jobs.map((job) => segmentNow(job, run, queueHeard ? observation.at : null));
	const progress =
		files.exists && (files.rollouts || files.expected !== null)
			? foldRollouts(run.progress ?? NO_PROGRESS, files.rollouts ?? new Uint8Array(), files.expected).progress
			: run.progress;
	const submittedBy = run.submittedBy ?? (jobs.length > 0 ? observation.user : null);
	return {
		...run,
		...verdict,
		segments,
		chain,
		progress: progress ?? NO_PROGRESS,
		submittedBy,
		error: verdict.status === "refused" ? run.error : null,
	};
}

/**
 * Without its directory there is nothing to go on with. Another user's files cannot be read: what was known stays. Of
 * one's own that are gone, the limits are lost.
 */
function chainNow(run: RunRecord, files: RunFiles, isOwn: boolean): ChainRecord | null {
	if (!files.exists) return null;
	const seen = readChain(files.chainFiles);
	if (!isOwn && !seen?.budget) return run.chain;
	return seen ?? (run.chain && { ...run.chain, budget: null });
}

/** As the journal has them, then by number: ids start anew when Slurm has counted to its end. */
function inOrder(ids: readonly string[], journal: readonly string[]): readonly string[] {
	const place = (id: string) => (journal.includes(id) ? journal.indexOf(id) : journal.length);
	return ids.toSorted((a, b) => place(a) - place(b) || Number(a) - Number(b));
}

function evidenceOf(
	jobId: string,
	run: RunRecord,
	files: RunFiles,
	journal: Journal,
	queued: readonly QueueRow[],
	observation: Observation,
): Seen {
	const end = files.ends.get(jobId);
	const accounted = observation.accounting?.find((row) => row.jobId === jobId) ?? null;
	const entry = journal.get(jobId) ?? null;
	const before = run.segments.find((segment) => segment.jobId === jobId)?.state ?? null;
	return {
		jobId,
		end: end === undefined ? null : parseEndRecord(end),
		queue: queued.find((row) => row.jobId === jobId) ?? null,
		// Ids are reused: a row of another directory is another job.
		accounting:
			accounted && (accounted.workDir === "" || accounted.workDir === run.jobDir) ? accounted : null,
		heard: before !== null && jobState(before).final ? before : (entry?.state ?? null),
		journal: entry,
	};
}

/** @param at when the queue was read, if it was: a job that nobody knows any more is over by then */
function segmentNow(seen: Seen, run: RunRecord, at: number | null): Segment {
	const { jobId, queue, accounting, end, heard, journal } = seen;
	const before = run.segments.find((segment) => segment.jobId === jobId);
	const hasStarted = queue && queue.state !== "PENDING" ? queue.startsAt : (accounting?.startedAt ?? null);
	const startedAt = hasStarted ?? before?.startedAt ?? journal?.beganAt ?? null;
	const isListed = queue !== null && jobState(queue.state).live && !isStuck(seen);
	const isGone = !queue && !accounting && !end && heard === null && at !== null;
	const over = accounting?.endedAt ?? before?.endedAt ?? (isGone || isStuck(seen) ? at : null);
	const endedAt = end?.at ?? (isListed ? null : over);
	return {
		cluster: accounting?.cluster ?? before?.cluster ?? null,
		jobId,
		submittedAt: queue?.submittedAt ?? accounting?.submittedAt ?? before?.submittedAt ?? null,
		state: queue?.state ?? accounting?.state ?? heard ?? before?.state ?? null,
		exitCode: end?.exit ?? accounting?.exitCode ?? before?.exitCode ?? null,
		// Why it waited is no matter once it began.
		reason: end?.why ?? queue?.reason ?? (before && before.endedAt !== null ? before.reason : null),
		startedAt,
		endedAt,
		elapsed:
			startedAt !== null && endedAt !== null && !isGone
				? Math.max(0, endedAt - startedAt)
				: (queue?.elapsed ??
					accounting?.elapsed ??
					end?.elapsed ??
					journal?.elapsed ??
					before?.elapsed ??
					null),
		nodes: queue?.nodeList ?? accounting?.nodeList ?? before?.nodes ?? null,
		decision: journal?.decision ?? before?.decision ?? null,
	};
}
