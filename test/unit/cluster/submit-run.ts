/** Runs the submit exchange's script against stand-ins for Slurm's programs, and makes what it is asked. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { JobRequest, Submission, SubmitOutcome } from "../../../src/cluster/scheduler.ts";
import { type FakeSlurm, schedulerOn } from "./fake-slurm.ts";

function job(runDir: string, benchmark: string, more: Partial<JobRequest> = {}): JobRequest {
	const files = new Map([
		["job.sh", { text: "#!/bin/bash\nexit 0\n", mode: 0o600 }],
		["control", { text: "", mode: 0o600 }],
		[".env", { text: "TOKEN='s3cret'\n", mode: 0o600 }],
	]);
	const chain = { previous: null, resetCounters: false };
	return {
		benchmark,
		jobDir: `${runDir}/${benchmark}`,
		files,
		knownIds: [],
		replaces: [],
		...chain,
		...more,
	};
}

/** What a test wants to be different; benchmarks by name, or with more. */
export interface Wanted extends Partial<Omit<Submission, "jobs">> {
	readonly jobs?: readonly (string | Partial<JobRequest>)[];
}

/** One benchmark `gsm8k`, unless told otherwise, below the folder of the stand-ins. */
export function submission(slurm: FakeSlurm, { jobs = ["gsm8k"], ...more }: Wanted = {}): Submission {
	const outputPath = more.outputPath ?? join(slurm.folder, "out");
	const runDir = more.runDir ?? `${outputPath}/gym-job-1`;
	const requests = jobs.map((one) =>
		typeof one === "string" ? job(runDir, one) : job(runDir, one.benchmark ?? "gsm8k", one),
	);
	return {
		stack: "x",
		runDir,
		outputPath,
		benchmarks: requests.map(({ benchmark }) => benchmark),
		files: new Map([["resolved-config.yaml", { text: "a: 1\n", mode: 0o600 }]]),
		record: {
			gymJobId: "gym-job-1",
			gymVersion: "0.7.0",
			cluster: "lab",
			executor: "slurm",
			hostname: null,
			metadata: { gymfile_stack: "x" },
		},
		knownDirs: [],
		mountSources: [],
		withheld: [],
		walltime: null,
		forward: new Map(),
		...more,
		jobs: requests,
	};
}

/** What the scheduler makes of the exchange. `before` is bash text that the same shell runs first. */
export function submit(slurm: FakeSlurm, wanted: Wanted = {}, before = ""): Promise<SubmitOutcome> {
	return schedulerOn(slurm, before).submit(submission(slurm, wanted));
}

/** Job ids by benchmark. */
export async function ids(slurm: FakeSlurm, wanted: Wanted = {}): Promise<Record<string, string | null>> {
	const { jobs } = await submit(slurm, wanted);
	return Object.fromEntries(jobs.map((one) => [one.benchmark, one.jobId]));
}

/** The run directory's `gym-job.json`. */
export async function record(runDir: string) {
	return JSON.parse(await readFile(join(runDir, "gym-job.json"), "utf8"));
}

/** Permission bits of a file in octal. */
export async function mode(path: string): Promise<string> {
	return ((await stat(path)).mode & 0o777).toString(8);
}
