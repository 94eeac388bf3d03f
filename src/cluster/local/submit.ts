/**
 * Submitting: stage, add to the registry held, record, release, report.
 *
 * Invariants, whatever dies when: a job is only added for a directory that has none in the registry (but for those of
 * earlier attempts), so a second run finds what the first left and goes on from there; its id stands in `submit.ids`
 * before it is released; two submitters of one run directory take turns.
 */
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { GymError } from "../../errors.ts";
import type { JobOutcome, JobRequest, Submission, SubmitOutcome } from "../scheduler.ts";
import { mountsMissing, outputPathNotWritable, replaceUnfinished, stagingFailed } from "../submit-errors.ts";
import { makeFolder } from "./atomic-files.ts";
import { cancelJobs } from "./cancel.ts";
import { LABEL, type LocalContext } from "./context.ts";
import { endGone } from "./gone.ts";
import { addEntry, type Entry, epochSeconds, readEntries, registryOf, standing } from "./registry.ts";
import { release } from "./release.ts";
import { queueRow } from "./rows.ts";
import { lockRunDir } from "./run-lock.ts";
import { missingPaths, recordId, stageFiles, stageJob, writeRecord } from "./submission-files.ts";

/** Submits every job of a submission that has none yet. */
export async function submit(submission: Submission, context: LocalContext): Promise<SubmitOutcome> {
	const { runDir, outputPath, mountSources } = submission;
	await makeWritable(outputPath);
	const missing = await missingPaths(mountSources);
	if (missing.length > 0) throw mountsMissing(missing, LABEL);
	try {
		await makeFolder(runDir);
		const lock = await lockRunDir(runDir, context);
		try {
			return await submitLocked(submission, context);
		} finally {
			await lock.release();
		}
	} catch (error) {
		if (GymError.is(error)) throw error;
		throw stagingFailed(LABEL, String(error));
	}
}

async function makeWritable(outputPath: string): Promise<void> {
	try {
		await makeFolder(outputPath);
		await access(outputPath, constants.W_OK | constants.X_OK);
	} catch (error) {
		throw outputPathNotWritable(outputPath, LABEL, String(error));
	}
}

async function submitLocked(submission: Submission, context: LocalContext): Promise<SubmitOutcome> {
	const { runDir, jobs } = submission;
	const { host, points, now } = context;
	const registry = registryOf(context.outputPath);
	await endGone(registry, host, now);
	const before = await readEntries(registry);
	const entries = new Map<string, Entry>();
	for (const job of jobs) {
		const found = before.find((entry) => isFor(entry, job));
		if (found) entries.set(job.benchmark, found);
	}
	await stageFiles(runDir, submission.files);
	for (const job of jobs) if (!entries.has(job.benchmark)) await stageJob(job);
	await writeRecord(submission, host.user, now(), new Map());
	await points.reach("submit.staged");
	for (const job of jobs) {
		const entry = entries.get(job.benchmark) ?? (await accept(job, submission, registry, context));
		entries.set(job.benchmark, entry);
		await recordId(runDir, { benchmark: job.benchmark, jobId: String(entry.job.id) });
		await points.reach("submit.recorded");
	}
	const replaced = jobs.flatMap((job) => job.replaces);
	if (replaced.length > 0) {
		const { left } = await cancelJobs(replaced, context);
		if (left.length > 0) throw replaceUnfinished(LABEL);
	}
	await points.reach("submit.release");
	// One after the other: each has its place in the queue before the next asks for its turn.
	for (const entry of entries.values()) await release(entry, submission, context);
	await points.reach("submit.released");
	const ids = new Map([...entries].map(([name, entry]) => [name, String(entry.job.id)]));
	await writeRecord(submission, host.user, now(), ids);
	await points.reach("submit.written");
	const outcomes: JobOutcome[] = [];
	for (const [benchmark, entry] of entries) outcomes.push(await outcomeOf(benchmark, entry, context));
	return { user: host.user, at: epochSeconds(now()), jobs: outcomes };
}

/** Is it the job of this request, and not of an earlier attempt in the same directory? */
function isFor({ job }: Entry, { jobDir, knownIds }: JobRequest): boolean {
	return job.jobDir === jobDir && !knownIds.includes(String(job.id));
}

async function accept(
	{ jobDir }: JobRequest,
	{ walltime }: Submission,
	registry: string,
	{ host, points, now }: LocalContext,
): Promise<Entry> {
	const job = { jobDir, user: host.user, submittedAt: epochSeconds(now()), walltime };
	const entry = await addEntry(registry, join(jobDir, ".entry.new"), job);
	await points.reach("submit.accepted");
	return entry;
}

async function outcomeOf(benchmark: string, entry: Entry, context: LocalContext): Promise<JobOutcome> {
	const row = queueRow(entry, await standing(entry, context.host), context.host, context.now());
	return {
		benchmark,
		jobId: row.jobId,
		error: null,
		state: row.state,
		reason: row.reason,
		submittedAt: row.submittedAt,
		estimatedStart: null,
		cluster: null,
	};
}
