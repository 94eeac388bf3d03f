/** Runs that the state does not know: what the records of a stack's submissions say, and which one is taken in. Pure. */
import * as z from "zod";
import { isLive, newSegment, type RunRecord } from "../../state/document.ts";
import type { FoundSubmission } from "../cluster/scheduler.ts";
import type { Desired } from "./plan.ts";

/** Earlier runs of one address that are looked into. */
const NEWEST = 5;

const recordSchema = z.object({
	gym_job_id: z.string(),
	run_dir: z.string(),
	submitted_by: z.string(),
	benchmarks: z.array(
		z.object({ benchmark: z.string(), job_dir: z.string(), job_id: z.string().nullable() }),
	),
	executor_metadata: z.object({ gymfile_fingerprints: z.string().optional() }).default({}),
});

/** What a document's jobs are, by benchmark; null when it is not one that we can read. */
export type ReadDocument = (text: string, benchmark: string) => string | null;

/**
 * The runs of an address in its submissions' records, newest first, as far as records tell: their status is judged
 * by a look at the cluster.
 */
export function foundRuns(
	desired: Desired,
	submissions: readonly FoundSubmission[],
	user: string,
	readDocument: ReadDocument,
): readonly RunRecord[] {
	return submissions
		.flatMap((submission) => runOf(desired, submission, user, readDocument) ?? [])
		.slice(0, NEWEST);
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
): RunRecord | null {
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
	return {
		runDir: record.run_dir,
		runId: record.gym_job_id,
		jobDir: job.job_dir,
		fingerprint,
		submittedBy: user,
		status: jobIds.length > 0 ? "pending" : "submitting",
		note: null,
		segments: jobIds.map(newSegment),
		error: null,
		progress: null,
		// Equal fingerprints mean the same job; of another one only the document is known.
		rendered: fingerprint === desired.fingerprint ? desired.rendered : {},
		// The peer writes values of secrets into its document: only one of ours is kept.
		document: (document === null || ours === undefined ? null : readDocument(document, benchmark)) ?? "{}\n",
	};
}

/** What becomes of the runs that were found for an address. */
export interface Adoption {
	/** The run to take in as the current one; null when a new one has to be submitted. */
	readonly current: RunRecord | null;
	/** The others that had a job, newest first. */
	readonly history: readonly RunRecord[];
}

/** A live run, else the newest one of the same job; all others are history. */
export function chooseRun(found: readonly RunRecord[], fingerprint: string): Adoption {
	const worked = found.filter((run) => run.segments.length > 0);
	const current =
		worked.find((run) => isLive(run.status)) ?? worked.find((run) => run.fingerprint === fingerprint) ?? null;
	return { current, history: worked.filter((run) => run !== current) };
}
