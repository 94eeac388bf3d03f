/** Runs that the state does not know: what the records of a stack's submissions say, and which one is taken in. Pure. */
import * as z from "zod";
import { isLive, newSegment, type RunRecord, type StateDocument } from "../../state/document.ts";
import type { FoundSubmission } from "../cluster/scheduler.ts";
import type { Problem } from "../errors.ts";
import type { Desired } from "./plan.ts";

/** Runs of one address that are looked into, besides those with a job in the queue. */
const NEWEST = 5;

const recordSchema = z.object({
	gym_job_id: z.string(),
	run_dir: z.string(),
	submitted_by: z.string(),
	submitted_at: z.string().optional(),
	benchmarks: z.array(
		z.object({ benchmark: z.string(), job_dir: z.string(), job_id: z.string().nullable() }),
	),
	executor_metadata: z.object({ gymfile_fingerprints: z.string().optional() }).default({}),
});

/** What a document's jobs are, by benchmark; null when it is not one that we can read. */
export type ReadDocument = (text: string, benchmark: string) => string | null;

/** Which runs are looked into. */
export interface Sought {
	/** Who submitted them, as the cluster knows them. */
	readonly user: string;
	/** Benchmark directories of runs that the state knows: those are not told again. */
	readonly knownDirs: ReadonlySet<string>;
	/** Working directories of jobs that are in the queue. */
	readonly queuedDirs: ReadonlySet<string>;
}

/**
 * The runs of an address in its submissions' records, newest first, as far as records tell: their status is judged
 * by a look at the cluster.
 */
export function foundRuns(
	desired: Desired,
	submissions: readonly FoundSubmission[],
	{ user, knownDirs, queuedDirs }: Sought,
	readDocument: ReadDocument,
): readonly RunRecord[] {
	return submissions
		.flatMap((submission) => runOf(desired, submission, user, readDocument) ?? [])
		.filter(({ run }) => !knownDirs.has(run.jobDir))
		.sort((a, b) => b.submittedAt - a.submittedAt || (a.run.runId < b.run.runId ? 1 : -1))
		.map(({ run }) => run)
		.filter((run, index) => index < NEWEST || queuedDirs.has(run.jobDir));
}

/**
 * Milliseconds of the epoch, by the cluster's clock; a record that does not say it has the time in its run's name,
 * which is by the clock of whoever submitted.
 */
function submissionTime(runId: string, submittedAt = ""): number {
	const recorded = Date.parse(submittedAt);
	if (!Number.isNaN(recorded)) return recorded;
	const [, date, hours, minutes, seconds] = /(\d{8})T(\d\d)(\d\d)(\d\d)Z/.exec(runId) ?? [];
	const day = date?.replace(/(....)(..)(..)/, "$1-$2-$3");
	return Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) || 0;
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

function parseRecord(text: string) {
	return recordSchema.safeParse(parseJson(text)).data ?? null;
}

/** A benchmark's fingerprint in those of a record; a name such as `__proto__` is only a name. */
function fingerprintOf(benchmark: string, fingerprints: string): string {
	const found = new Map(Object.entries(parseJson(fingerprints) ?? {})).get(benchmark);
	return typeof found === "string" ? found : "";
}

function runOf(
	desired: Desired,
	{ record: text, document, ids }: FoundSubmission,
	user: string,
	readDocument: ReadDocument,
): { readonly run: RunRecord; readonly submittedAt: number } | null {
	const record = parseRecord(text);
	const { benchmark } = desired;
	const job = record?.benchmarks.find((one) => one.benchmark === benchmark);
	if (!record || !job || record.submitted_by !== user) return null;
	const ours = record.executor_metadata.gymfile_fingerprints;
	const fingerprint = ours === undefined ? "" : fingerprintOf(benchmark, ours);
	const recorded = ids.split("\n").flatMap((line) => {
		const [name, id] = line.split("\t");
		return name === benchmark && id ? [id] : [];
	});
	const jobIds = [...new Set([...recorded, ...(job.job_id === null ? [] : [job.job_id])])];
	const run: RunRecord = {
		runDir: record.run_dir,
		runId: record.gym_job_id,
		jobDir: job.job_dir,
		fingerprint,
		submittedBy: user,
		status: jobIds.length > 0 ? "pending" : "submitting",
		note: null,
		segments: jobIds.map(newSegment),
		chain: null,
		error: null,
		progress: null,
		// Equal fingerprints mean the same job; of another one only the document is known.
		rendered: fingerprint === desired.fingerprint ? desired.rendered : {},
		// The peer writes values of secrets into its document: only one of ours is kept.
		document: (document === null || ours === undefined ? null : readDocument(document, benchmark)) ?? "{}\n",
	};
	return { run, submittedAt: submissionTime(record.gym_job_id, record.submitted_at) };
}

/** What becomes of the runs that were found for an address. */
export interface Adoption {
	/** The run to take in as the current one; null when there is none, or the state has a live one. */
	readonly current: RunRecord | null;
	/** The others that had a job and are over, newest first. */
	readonly history: readonly RunRecord[];
	/** Further live ones, oldest first. They stay out of the state: somebody has to choose. */
	readonly rivals: readonly RunRecord[];
}

/**
 * The oldest live run, else the newest one of the same job, else, where the state knows nothing, a submission of it
 * that was cut short before it had a job; those that are over become history.
 * @param found newest first
 * @param known the state's own run; while that is live no other takes its place
 */
export function chooseRun(
	found: readonly RunRecord[],
	fingerprint: string,
	known: RunRecord | null,
): Adoption {
	const worked = found.filter((run) => run.segments.length > 0);
	const live = worked.filter((run) => isLive(run.status)).reverse();
	if (known && isLive(known.status)) return { current: null, history: [], rivals: live };
	const isSame = (run: RunRecord) => run.fingerprint === fingerprint;
	const [oldest, ...rivals] = live;
	const cut = known ? undefined : found.find(isSame);
	const current = oldest ?? worked.find(isSame) ?? cut ?? null;
	const history = worked.filter((run) => run !== current && !live.includes(run));
	return { current, history, rivals };
}

/** A warning for each address of which more than one run is live. */
export function rivalRuns(
	stack: string,
	found: ReadonlyMap<string, Adoption>,
	state: StateDocument | null,
): readonly Problem[] {
	return [...found].flatMap(([benchmark, { current, rivals }]): Problem[] => {
		const kept = current ?? state?.benchmarks.get(benchmark)?.current;
		if (!kept || kept.segments.length === 0 || rivals.length === 0) return [];
		const address = `${stack}/${benchmark}`;
		const ids = rivals.map(jobOf).join(", ");
		const places = [kept, ...rivals].map((run) => `${run.jobDir} (${jobOf(run)})`).join(" and ");
		return [
			{
				code: "several-live-runs",
				severity: "warning",
				at: "",
				message: `${address} has ${rivals.length + 1} live runs: ${places}; the first one is its current run`,
				remedy: `cancel ${ids} on the cluster; or gym cancel ${address}, then gym adopt ${rivals[0]!.runDir}, to keep that one instead`,
			},
		];
	});
}

function jobOf({ segments }: RunRecord): string {
	return `job ${segments.at(-1)!.jobId}`;
}
