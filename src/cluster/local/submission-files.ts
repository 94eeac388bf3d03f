/** The files of a submission's run directory: what is staged, and the records of what was submitted. */
import { appendFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { recordHead } from "../job-record.ts";
import { COUNTER_FILES, type JobRequest, type StagedFile, type Submission } from "../scheduler.ts";
import { makeFolder, putFile, readIfThere } from "./atomic-files.ts";

const FOLDERS = ["logs", "artifacts", "model-calls", "ends"];

/** A job id that was recorded for a benchmark. */
export interface RecordedId {
	readonly benchmark: string;
	readonly jobId: string;
}

/** Puts files into a folder. */
export async function stageFiles(folder: string, files: ReadonlyMap<string, StagedFile>): Promise<void> {
	for (const [name, file] of files) await putFile(join(folder, name), file.text, file.mode);
}

/** Makes a benchmark's directory with all that its job needs. */
export async function stageJob({ jobDir, files, resetCounters }: JobRequest): Promise<void> {
	if (resetCounters) for (const name of COUNTER_FILES) await rm(join(jobDir, name), { force: true });
	for (const name of FOLDERS) await makeFolder(join(jobDir, name));
	await stageFiles(jobDir, files);
}

/** Ids in `submit.ids`, in the order of recording. */
export async function readIds(runDir: string): Promise<readonly RecordedId[]> {
	const lines = ((await readIfThere(join(runDir, "submit.ids"))) ?? "").split("\n");
	return lines.flatMap((line) => {
		const [benchmark, jobId] = line.split("\t");
		return benchmark && jobId ? [{ benchmark, jobId }] : [];
	});
}

/** Adds an id to `submit.ids`, unless it is there. */
export async function recordId(runDir: string, { benchmark, jobId }: RecordedId): Promise<void> {
	const recorded = await readIds(runDir);
	if (recorded.some((one) => one.benchmark === benchmark && one.jobId === jobId)) return;
	await appendFile(join(runDir, "submit.ids"), `${benchmark}\t${jobId}\t\n`, { mode: 0o644 });
}

/** Writes `gym-job.json`; the time of the first writing stays. */
export async function writeRecord(
	submission: Submission,
	user: string,
	now: Date,
	ids: ReadonlyMap<string, string>,
): Promise<void> {
	const { runDir, benchmarks } = submission;
	const earlier = new Map((await readIds(runDir)).map(({ benchmark, jobId }) => [benchmark, jobId]));
	const at = (await readIfThere(join(runDir, "submitted-at"))) ?? now.toISOString().replace(/\.\d+Z$/, "Z\n");
	await putFile(join(runDir, "submitted-at"), at, 0o644);
	const record = {
		...recordHead(submission),
		submitted_at: at.trim(),
		submitted_by: user,
		benchmarks: benchmarks.map((benchmark) => ({
			benchmark,
			job_dir: join(runDir, benchmark),
			job_id: ids.get(benchmark) ?? earlier.get(benchmark) ?? null,
			error: null,
		})),
	};
	await putFile(join(runDir, "gym-job.json"), `${JSON.stringify(record, null, 2)}\n`, 0o644);
}

/** Those of these paths that do not exist. */
export async function missingPaths(paths: readonly string[]): Promise<readonly string[]> {
	const there = await Promise.all(paths.map((path) => stat(path).then(Boolean, () => false)));
	return paths.filter((_, index) => !there[index]);
}
