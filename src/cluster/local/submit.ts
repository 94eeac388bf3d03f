/**
 * Submitting: stage, add to the registry held, record, release, report.
 *
 * Invariants, whatever dies when: a job is only added for a directory that has none in the registry (but for those of
 * earlier attempts), so a second run finds what the first left and goes on from there; its id stands in `submit.ids`
 * before it is released; submitters of one stack take turns, and none submits a benchmark of which a run is live by
 * then that its own state does not know.
 */
import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import type { Host } from "../../../state/host.ts";
import { GymError } from "../../errors.ts";
import type { JobOutcome, JobRequest, Submission, SubmitOutcome } from "../scheduler.ts";
import { mountsMissing, outputPathNotWritable, replaceUnfinished, stagingFailed } from "../submit-errors.ts";
import { makeFolder } from "./atomic-files.ts";
import { cancelJobs } from "./cancel.ts";
import { LABEL, type LocalContext } from "./context.ts";
import { endGone } from "./gone.ts";
import { liveElsewhere } from "./live-elsewhere.ts";
import { addEntry, type Entry, epochSeconds, isLive, readEntries, registryOf, standing } from "./registry.ts";
import { release } from "./release.ts";
import { queueRow } from "./rows.ts";
import { lockRunDir, lockStack } from "./run-lock.ts";
import { missingPaths, recordId, stageFiles, stageJob, writeRecord } from "./submission-files.ts";

/** Submits every job of a submission that has none yet. */
export async function submit(submission: Submission, context: LocalContext): Promise<SubmitOutcome> {
	const { runDir, outputPath, mountSources } = submission;
	await makeWritable(outputPath);
	const missing = await missingPaths(mountSources);
	if (missing.length > 0) throw mountsMissing(missing, LABEL);
	try {
		await makeFolder(runDir);
		const turn = await lockStack(submission.stack, context);
		try {
			const lock = await lockRunDir(runDir, context);
			try {
				return await submitLocked(submission, context);
			} finally {
				await lock.release();
			}
		} finally {
			await turn.release();
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
		for (const entry of before) {
			if (entries.has(job.benchmark) || !(await isFor(entry, job, host))) continue;
			entries.set(job.benchmark, entry);
		}
	}
	const elsewhere = await liveElsewhere(submission, before, context);
	const isBarred = ({ benchmark }: JobRequest) => !entries.has(benchmark) && elsewhere.has(benchmark);
	const allowed = jobs.filter((job) => !isBarred(job));
	await stageFiles(runDir, submission.files);
	for (const job of allowed) if (!entries.has(job.benchmark)) await stageJob(job);
	await writeRecord(submission, host.user, now(), new Map());
	await points.reach("submit.staged");
	for (const job of allowed) {
		const entry = entries.get(job.benchmark) ?? (await accept(job, submission, registry, context));
		entries.set(job.benchmark, entry);
		await recordId(runDir, { benchmark: job.benchmark, jobId: String(entry.job.id) });
		await points.reach("submit.recorded");
	}
	const replaced = allowed.flatMap((job) => job.replaces);
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
	const outcomes = jobs
		.filter(isBarred)
		.map(({ benchmark }) => refusal(benchmark, elsewhere.get(benchmark)!));
	for (const [benchmark, entry] of entries) outcomes.push(await outcomeOf(benchmark, entry, context));
	return { user: host.user, at: epochSeconds(now()), jobs: outcomes };
}

/** Is it the job of this request: not of an earlier attempt in the same directory, nor a successor that came to nothing? */
async function isFor(entry: Entry, { jobDir, knownIds }: JobRequest, host: Host): Promise<boolean> {
	if (entry.job.jobDir !== jobDir || knownIds.includes(String(entry.job.id))) return false;
	return !entry.job.dependent || isLive(await standing(entry, host));
}

async function accept(
	{ jobDir, previous }: JobRequest,
	{ walltime }: Submission,
	registry: string,
	{ host, points, now }: LocalContext,
): Promise<Entry> {
	const chain = { previous: previous === null ? null : Number(previous), dependent: false };
	const job = { jobDir, user: host.user, submittedAt: epochSeconds(now()), walltime, ...chain };
	const entry = await addEntry(registry, join(jobDir, ".entry.new"), job);
	await points.reach("submit.accepted");
	return entry;
}

function refusal(benchmark: string, error: string): JobOutcome {
	const none = { state: null, reason: null, submittedAt: null, estimatedStart: null, cluster: null };
	return { benchmark, jobId: null, error, ...none };
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
