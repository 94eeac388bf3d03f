/** What a run's status is, from evidence. Pure: one look at the cluster comes in as data. */
import type { RunStatus } from "../../state/document.ts";
import type { AccountingRow } from "../cluster/slurm/accounting.ts";
import type { QueueRow } from "../cluster/slurm/queue.ts";
import { slurmState } from "../cluster/slurm/states.ts";
import type { EndRecord } from "./end-record.ts";

/** What is known of one job of a chain. */
export interface JobEvidence {
	readonly jobId: string;
	readonly end: EndRecord | null;
	readonly queue: Pick<QueueRow, "state" | "reason" | "nodeList"> | null;
	readonly accounting: Pick<
		AccountingRow,
		"state" | "cancelledBy" | "exitCode" | "signal" | "startedAt"
	> | null;
}

export interface RunEvidence {
	/** Status in the state; kept where the cluster said nothing. */
	readonly before: RunStatus;
	/** In the order of submission. */
	readonly jobs: readonly JobEvidence[];
	/** False when the queue gave no answer, or not one about this run's user: nothing follows from absence then. */
	readonly queueHeard: boolean;
	readonly accountingHeard: boolean;
	/** The submit exchange came to its end, so that no job can still be on its way. */
	readonly exchangeFinished: boolean;
	/** sbatch's own words when it refused. */
	readonly error: string | null;
	/** `gym cancel` left its mark in the benchmark directory. */
	readonly stopMarked: boolean;
}

/** A status with one line for people; null when the status says it all. */
export interface Verdict {
	readonly status: RunStatus;
	readonly note: string | null;
}

/** A segment that found the chain already ended by its predecessor: it says nothing about the run. */
const ONLY_LOOKED: ReadonlySet<string> = new Set(["over", "claimed"]);

/** What the end records of a chain mean; `failed` for every other word, unless the script ended 0. */
const ENDS: ReadonlyMap<string, RunStatus> = new Map([
	["finished", "succeeded"],
	["time", "timeout"],
	["timeout", "timeout"],
	["stopped", "cancelled"],
	["terminated", "cancelled"],
	["retries", "stopped"],
	["cap", "stopped"],
	["no-progress", "stopped"],
]);

/** Ends that were the chain's own decision: whatever Slurm calls the job does not change them. */
const OWN_DECISION: ReadonlySet<RunStatus> = new Set(["succeeded", "stopped", "timeout"]);

/** States by which Slurm says that somebody or something else ended the job. */
const ENDED_FROM_OUTSIDE: ReadonlySet<RunStatus> = new Set([
	"cancelled",
	"timeout",
	"preempted",
	"node-fail",
]);

/** How far a live status is, for chains where one job runs and its successor waits. */
const LIVE_ORDER: readonly RunStatus[] = ["running", "completing", "pending", "held"];

/**
 * The status of a run. It succeeded when the driver ended 0 in some segment, and never otherwise while a record
 * contradicts; else what is live counts, then how the last segment that worked ended. The queue is current,
 * accounting lags, and an end record knows best how the driver ended.
 */
export function runStatus(evidence: RunEvidence): Verdict {
	const { jobs } = evidence;
	const finished = jobs.find((job) => job.end && isSuccess(job.end));
	if (finished) return { status: "succeeded", note: null };
	if (jobs.length === 0) return withoutJob(evidence);

	const live = jobs.flatMap((job) => liveVerdict(job) ?? []);
	for (const status of LIVE_ORDER) {
		const found = live.find((verdict) => verdict.status === status);
		if (found) return found;
	}
	return endVerdict(lastThatWorked(jobs), evidence);
}

function isSuccess(end: EndRecord): boolean {
	return end.exit === 0 && ENDS.get(end.why) === "succeeded";
}

function withoutJob(evidence: RunEvidence): Verdict {
	if (evidence.error !== null) return { status: "refused", note: evidence.error };
	if (evidence.exchangeFinished) return { status: "refused", note: "no job was queued" };
	return { status: evidence.before, note: "the submission has not come to its end" };
}

function liveVerdict(job: JobEvidence): Verdict | null {
	const row = job.queue ?? job.accounting;
	if (!row) return null;
	const seen = slurmState(row.state, job.queue?.reason);
	if (!seen.live) return null;
	// A word we do not know is taken for running, so that nothing is submitted a second time.
	if (seen.status === "unknown") return { status: "running", note: `Slurm says ${seen.name}` };
	if (seen.status === "running" && job.end) return { status: "completing", note: describe(job, "failed") };
	return { status: seen.status, note: job.queue ? liveNote(seen.status, job.queue) : null };
}

function liveNote(status: RunStatus, row: NonNullable<JobEvidence["queue"]>): string | null {
	if (status === "pending") return row.reason;
	if (status === "held") return "held: not released yet";
	return row.nodeList ? `on ${row.nodeList}` : null;
}

/** The last job that did more than look: successors that ended because the chain was over tell nothing. */
function lastThatWorked(jobs: readonly JobEvidence[]): JobEvidence {
	const worked = jobs.filter((job, i) => {
		if (job.end) return !ONLY_LOOKED.has(job.end.why);
		const neverStarted = finalStatus(job) === "cancelled" && (job.accounting?.startedAt ?? null) === null;
		return i === 0 || !neverStarted;
	});
	return worked.at(-1) ?? jobs[0]!;
}

function finalStatus(job: JobEvidence): RunStatus | null {
	const row = job.queue ?? job.accounting;
	const seen = row ? slurmState(row.state) : null;
	return seen?.final ? seen.status : null;
}

function endVerdict(job: JobEvidence, evidence: RunEvidence): Verdict {
	const status = endStatus(job, evidence);
	if (status !== null) return { status, note: describe(job, status, evidence.stopMarked) };
	if (!evidence.queueHeard) return { status: evidence.before, note: "the queue could not be read" };
	const where = evidence.accountingHeard ? "in neither queue nor accounting" : "no longer in the queue";
	return { status: "unknown", note: `job ${job.jobId} is ${where} and left no end record` };
}

function endStatus(job: JobEvidence, evidence: RunEvidence): RunStatus | null {
	const slurm = finalStatus(job);
	if (job.end) {
		const own = ENDS.get(job.end.why) ?? (job.end.exit === 0 ? "stopped" : "failed");
		if (own === "succeeded") return "failed";
		// The script only knows that it got TERM; why, the scheduler knows: out of memory, a deadline.
		const outside = slurm && (ENDED_FROM_OUTSIDE.has(slurm) || job.end.why === "terminated");
		return outside && !OWN_DECISION.has(own) ? slurm : own;
	}
	if (slurm !== "succeeded") return slurm;
	const contradicted = evidence.jobs.some((other) => other.end) || (job.accounting?.exitCode ?? 0) !== 0;
	return contradicted ? "unknown" : "succeeded";
}

/** One line for people: why the job has that status. Null when there is nothing to add. */
function describe(job: JobEvidence, status: RunStatus, stopMarked = false): string | null {
	const { end } = job;
	switch (status) {
		case "succeeded":
			return end ? null : "no end record";
		case "cancelled":
			return cancelNote(job, stopMarked);
		case "timeout":
			return end ? "time limit reached, the driver was asked to stop" : "time limit reached";
		case "preempted":
			return "preempted by other jobs";
		case "node-fail":
			return "a node failed";
		case "stopped":
			return end ? stopNote(end) : null;
		case "failed":
			return end && end.why !== "terminated" ? failNote(end, job.jobId) : slurmFailNote(job);
		case "unknown":
			return "Slurm says COMPLETED, its end record does not";
		default:
			return null;
	}
}

function cancelNote(job: JobEvidence, stopMarked: boolean): string {
	if (stopMarked || job.end?.why === "stopped") return "cancelled with gym cancel";
	const by = job.accounting?.cancelledBy;
	if (by) return `cancelled by someone (uid ${by}), not with gym cancel`;
	return finalStatus(job) === "cancelled" ? "cancelled by someone" : "ended from outside";
}

function stopNote(end: EndRecord): string {
	switch (end.why) {
		case "retries":
			return "all retries are spent";
		case "cap":
			return "max_walltime is used up";
		case "no-progress":
			return "no progress in three segments in a row";
		default:
			return `stopped: ${end.why}`;
	}
}

function failNote(end: EndRecord, jobId: string): string {
	const service = end.name ?? "a service";
	const log = end.name ? ` (logs/${end.name}-${jobId}.log)` : "";
	switch (end.why) {
		case "service":
			return `service ${service} died${log}`;
		case "unhealthy":
			return `service ${service} did not get healthy${log}`;
		case "driver":
		case "error":
		case "finished":
			return `driver exited ${end.exit}`;
		default:
			return `${end.why} (exit ${end.exit})`;
	}
}

function slurmFailNote(job: JobEvidence): string {
	const { accounting } = job;
	const name = slurmState((job.queue ?? accounting)?.state ?? "").name;
	const how = accounting?.signal
		? `, signal ${accounting.signal}`
		: accounting?.exitCode
			? `, exit ${accounting.exitCode}`
			: "";
	return `Slurm says ${name}${how}, no end record`;
}
