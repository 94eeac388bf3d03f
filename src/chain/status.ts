/** What a run's status is, from evidence. Pure: one look at the cluster comes in as data. */
import { type ChainRecord, isLive, type RunStatus } from "../../state/document.ts";
import { jobState } from "../cluster/job-state.ts";
import type { AccountingRow, QueueRow } from "../cluster/jobs.ts";
import { formatDuration } from "../submit/duration.ts";
import { DECIDED, type EndRecord } from "./end-record.ts";
import type { JournalEntry } from "./journal.ts";

/** What is known of one job of a chain. */
export interface JobEvidence {
	readonly jobId: string;
	readonly end: EndRecord | null;
	readonly queue: Pick<QueueRow, "state" | "reason" | "nodeList"> | null;
	readonly accounting: Pick<
		AccountingRow,
		"state" | "cancelledBy" | "exitCode" | "signal" | "startedAt"
	> | null;
	/** Final state that was heard before: by an earlier look, or by the next job of the chain. */
	readonly heard: string | null;
	/** What the journal says of it; null when it is not named there. */
	readonly journal: Pick<JournalEntry, "beganAt" | "ran" | "queuedByChain"> | null;
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
	/** What its chain has used up; null when it does not go on in further jobs. */
	readonly chain: ChainRecord | null;
}

/** A status with one line for people; null when the status says it all. */
export interface Verdict {
	readonly status: RunStatus;
	readonly note: string | null;
}

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

/** Ends after which a chain may go on, unless it was cancelled. */
const GOES_ON: ReadonlySet<RunStatus> = new Set(["failed", "timeout", "preempted", "node-fail", "unknown"]);

/** Slurm's reason for a successor that nothing can start any more, where it does not remove it by itself. */
const NEVER = "DependencyNeverSatisfied";

/** Jobs of a chain that wait for what cannot come are no work in progress. */
export function isStuck({ queue, journal }: Pick<JobEvidence, "queue" | "journal">): boolean {
	return (journal?.queuedByChain ?? false) && queue?.state === "PENDING" && queue.reason === NEVER;
}

/** How far a live status is, for chains where one job runs and its successor waits. */
const LIVE_ORDER: readonly RunStatus[] = ["running", "completing", "pending", "held"];

/**
 * The status of a run. It succeeded when the driver ended 0 in some segment, and never otherwise while a record
 * contradicts; else what is live counts, then how the last segment that worked ended. The queue is current,
 * accounting lags, and an end record knows best how the driver ended.
 */
export function runStatus(evidence: RunEvidence): Verdict {
	const verdict = judge(evidence);
	if (isLive(verdict.status)) return verdict;
	const stuck = evidence.jobs.find(isStuck);
	const untold = evidence.jobs.find((job) => job.end?.collectorDied);
	const notes = [
		verdict.note,
		untold ? `the collector of job ${untold.jobId} died: telemetry is incomplete` : null,
		stuck ? `job ${stuck.jobId} waits for ever (${NEVER}): gym cancel removes it` : null,
	].filter((part) => part !== null);
	return { status: verdict.status, note: notes.length > 0 ? notes.join("; ") : null };
}

function judge(evidence: RunEvidence): Verdict {
	const { jobs } = evidence;
	const finished = jobs.find((job) => job.end && isSuccess(job.end));
	if (finished) return { status: "succeeded", note: null };
	if (jobs.length === 0) return withoutJob(evidence);

	const live = jobs.flatMap((job) => liveVerdict(job, evidence) ?? []);
	for (const status of LIVE_ORDER) {
		const found = live.find((verdict) => verdict.status === status);
		if (found) return found;
	}
	if (!evidence.queueHeard && jobs.some((job) => !job.end && finalStatus(job) === null)) {
		return { status: evidence.before, note: "the queue could not be read" };
	}
	const verdict = endVerdict(lastThatTells(jobs), evidence);
	const goesOnNoMore = evidence.chain !== null && evidence.stopMarked && GOES_ON.has(verdict.status);
	return goesOnNoMore ? { status: "cancelled", note: "cancelled with gym cancel" } : verdict;
}

function isSuccess(end: EndRecord): boolean {
	return end.exit === 0 && ENDS.get(end.why) === "succeeded";
}

function withoutJob(evidence: RunEvidence): Verdict {
	if (evidence.error !== null) return { status: "refused", note: evidence.error };
	if (evidence.exchangeFinished) return { status: "refused", note: "no job was queued" };
	return { status: evidence.before, note: "the submission has not come to its end" };
}

function liveVerdict(job: JobEvidence, evidence: RunEvidence): Verdict | null {
	const row = job.queue ?? job.accounting;
	if (!row || isStuck(job)) return null;
	const seen = jobState(row.state, job.queue?.reason);
	if (!seen.live) return null;
	// A word we do not know is taken for running, so that nothing is submitted a second time.
	if (seen.status === "unknown") return { status: "running", note: `the scheduler says ${seen.name}` };
	if (seen.status === "running" && job.end)
		return { status: "completing", note: describe(job, "failed", evidence) };
	return { status: seen.status, note: job.queue ? liveNote(seen.status, job.queue) : null };
}

function liveNote(status: RunStatus, row: NonNullable<JobEvidence["queue"]>): string | null {
	if (status === "pending") return row.reason;
	if (status === "held") return "held: not released yet";
	return row.nodeList ? `on ${row.nodeList}` : null;
}

/** The last job that tells how the run ended: successors that ended because the chain was over tell nothing. */
function lastThatTells(jobs: readonly JobEvidence[]): JobEvidence {
	return jobs.filter((job, i) => i === 0 || tellsOfEnd(job)).at(-1) ?? jobs[0]!;
}

function tellsOfEnd(job: JobEvidence): boolean {
	if (job.end) return DECIDED.get(job.end.why)?.tells ?? true;
	if (isStuck(job)) return false;
	if ((job.journal?.beganAt ?? null) !== null) return true;
	const status = finalStatus(job);
	// A successor that is gone without a trace never began.
	if (status === null) return !job.journal?.queuedByChain;
	// One that somebody cancelled while it waited ends the chain, as cancelling any of its jobs does.
	const { startedAt = null, cancelledBy = null } = job.accounting ?? {};
	return status !== "cancelled" || startedAt !== null || cancelledBy !== null;
}

function finalStatus(job: JobEvidence): RunStatus | null {
	const word = (job.queue ?? job.accounting)?.state;
	const words = [word, job.heard].filter((one) => typeof one === "string").map((one) => jobState(one));
	return words.find((seen) => seen.final)?.status ?? null;
}

function endVerdict(job: JobEvidence, evidence: RunEvidence): Verdict {
	const status = endStatus(job, evidence);
	if (status !== null) return { status, note: describe(job, status, evidence) };
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
	// A segment that only decided to stop ends with 0, too.
	const onlyDecided = job !== evidence.jobs[0] && !job.journal?.ran;
	const contradicted =
		evidence.jobs.some((other) => other.end) || onlyDecided || (job.accounting?.exitCode ?? 0) !== 0;
	return contradicted ? "unknown" : "succeeded";
}

/** One line for people: why the job has that status. Null when there is nothing to add. */
function describe(
	job: JobEvidence,
	status: RunStatus,
	{ stopMarked, chain }: Pick<RunEvidence, "stopMarked" | "chain">,
): string | null {
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
			return end ? stopNote(end, chain) : null;
		case "failed":
			return end && end.why !== "terminated" ? failNote(end, job.jobId) : slurmFailNote(job);
		case "unknown":
			return "the scheduler says COMPLETED, its end record does not";
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

function stopNote(end: EndRecord, chain: ChainRecord | null): string {
	const limits = chain?.budget;
	switch (end.why) {
		case "retries":
			return limits ? `${limits.maxRetries} of ${limits.maxRetries} retries spent` : "all retries are spent";
		case "cap":
			return limits?.maxWalltime
				? `max_walltime of ${formatDuration(limits.maxWalltime)} used up`
				: "max_walltime is used up";
		case "no-progress":
			return "no progress before the time limit, several times in a row";
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
	const name = jobState((job.queue ?? accounting)?.state ?? "").name;
	const how = accounting?.signal
		? `, signal ${accounting.signal}`
		: accounting?.exitCode
			? `, exit ${accounting.exitCode}`
			: "";
	return `the scheduler says ${name}${how}, no end record`;
}
