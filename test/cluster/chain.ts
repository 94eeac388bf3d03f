/** Drives resume chains on the test bed: submits them, steers their segments, reads what they leave. */
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { quote } from "../../src/job/script/quote.ts";
import { as, type JobRow, jobs, on, waitFor } from "../setup/cluster.ts";
import { labDocument, type Project, project } from "./gym.ts";
import { liveJobs, runDirs } from "./runs.ts";
import { stubFolder } from "./stub-folder.ts";

/** A line of a chain's journal. */
export interface ChainEvent {
	readonly job: number;
	readonly at: number;
	readonly event: string;
	readonly previous?: string;
	readonly next?: string | null;
	readonly state?: string;
	readonly elapsed?: number | null;
	readonly retries?: number;
	readonly walltime?: number;
	readonly decision?: string;
	readonly why?: string;
	readonly restart?: number;
}

/** The chains of one project. */
export interface Chains {
	readonly one: Project;
	/** The text of a file of a benchmark's directory; null when there is none. */
	file(benchmark: string, path: string): Promise<string | null>;
	events(benchmark: string): Promise<readonly ChainEvent[]>;
	/** Waits until the n-th segment of those that worked runs the benchmark; its job id. */
	running(benchmark: string, nth: number): Promise<string>;
	/** Waits until no job of the chain is queued or running; all of its jobs. */
	over(benchmark: string): Promise<readonly JobRow[]>;
	/** What the chain's segments decided about their predecessors, in order: `FAILED resume`. */
	decisions(benchmark: string): Promise<readonly string[]>;
	/** Why and with which exit code a job ended, by its own record: `85 timeout`. */
	end(benchmark: string, job: string): Promise<string | undefined>;
}

/** What a document of chains may say beyond the usual. */
export interface ChainOptions {
	/** Variables of the submitting shell. */
	readonly shell?: Readonly<Record<string, string>>;
	readonly driver?: Readonly<Record<string, unknown>>;
	readonly compute?: Readonly<Record<string, unknown>>;
}

/** A document without services: its jobs take one CPU, so that many fit. */
export function chainDocument(
	outputPath: string,
	benchmarks: Readonly<Record<string, unknown>>,
	{ driver, compute }: ChainOptions = {},
) {
	const document = labDocument({
		outputPath,
		benchmarks,
		driver: { policy_model: null, ...driver },
		compute: { node_pools: {}, ...compute },
	});
	return { ...document, services: {} };
}

/** A new project with that document; its jobs end with the test. */
export async function chainProject(
	benchmarks: Readonly<Record<string, unknown>>,
	options: ChainOptions = {},
): Promise<Project> {
	const one = await project();
	onTestFinished(() => endJobs(one));
	await one.write(chainDocument(one.outputPath, benchmarks, options));
	return one;
}

/** Applies such a project. */
export async function appliedChains(
	benchmarks: Readonly<Record<string, unknown>>,
	options: ChainOptions = {},
): Promise<Chains> {
	const one = await chainProject(benchmarks, options);
	const { code, text } = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"], options.shell);
	expect(code, text).toBe(0);
	return chainsOf(one);
}

/** Cancels a project's jobs, and the successors that start at once then. */
export async function endJobs(one: Project): Promise<void> {
	for (let ids: readonly string[]; ; ) {
		ids = [...(await liveJobs(one)).values()].flat();
		if (ids.length === 0) return;
		await as("scancel", ...ids);
	}
}

/** The chains in a run directory of a project, by default its newest. */
export async function chainsOf(one: Project, given?: string): Promise<Chains> {
	const runDir = given ?? (await runDirs(one)).at(-1)!;
	const file = (benchmark: string, path: string) =>
		readFile(join(runDir, benchmark, path), "utf8").catch(() => null);
	const events = async (benchmark: string) => {
		// A last line that is being written is none yet.
		const lines = ((await file(benchmark, "chain.jsonl")) ?? "").split("\n").slice(0, -1);
		return lines.map((line) => JSON.parse(line) as ChainEvent);
	};
	const jobsOf = (benchmark: string) => jobs(join(runDir, benchmark));
	return {
		one,
		file,
		events,
		running: (benchmark, nth) =>
			waitFor(async () => {
				const ran = (await events(benchmark)).filter(({ event }) => event === "run").map(({ job }) => job);
				return [...new Set(ran)][nth - 1]?.toString();
			}, `segment ${nth} of ${benchmark} to run`),
		over: (benchmark) =>
			waitFor(async () => {
				const all = await jobsOf(benchmark);
				return all.every(({ state }) => !["PENDING", "RUNNING", "COMPLETING"].includes(state)) && all;
			}, `the chain of ${benchmark} to end`),
		decisions: async (benchmark) =>
			(await events(benchmark))
				.filter(({ event }) => event === "previous")
				.map(({ state, decision }) => [...(state ? [state] : []), decision].join(" ")),
		async end(benchmark, job) {
			const [, exit, why] = /^exit=(\d+) why=(\S+)/.exec((await file(benchmark, `ends/${job}`)) ?? "") ?? [];
			return exit && `${exit} ${why}`;
		},
	};
}

/** A `gym` of the test's own: its runs go on until the test ends them. */
export interface Steered {
	/** What the driver needs so that it runs this one. */
	readonly driver: { readonly env: Readonly<Record<string, string>> };
	/** Lets the run of that job end with an exit code. */
	exit(job: string, code: number): Promise<void>;
}

/** How a run behaves: add a rollout and wait; wait only; fail at once; be deaf to TERM. */
export type Play = "work" | "idle" | "fail" | "deaf";

/** A resumable benchmark of such a `gym`. */
export function playing(play: Play, resumable: unknown = true) {
	return { run: { play }, resumable };
}

export async function steered(): Promise<Steered> {
	const { path } = await stubFolder();
	await chmod(path, 0o755);
	const program = join(path, "gym");
	const lines = [
		"#!/bin/bash",
		'for word; do if [[ $word == +output_jsonl_fpath=* ]]; then out=${word#*\\"} out=${out%\\"}; fi; done',
		"case $* in",
		"*play=fail*) exit 3 ;;",
		'*play=deaf*) trap "" TERM ;;',
		`*play=work*) echo '{"reward": 1}' >>"$out" ;;`,
		"esac",
		`until [[ -e ${quote(path)}/$SLURM_JOB_ID ]]; do sleep 0.1; done`,
		`exit "$(<${quote(path)}/$SLURM_JOB_ID)"`,
	];
	await writeFile(program, `${lines.join("\n")}\n`);
	await chmod(program, 0o755);
	return {
		driver: { env: { PATH: `lit:${path}:/usr/bin:/bin` } },
		async exit(job, code) {
			await writeFile(join(path, `${job}.new`), String(code));
			await rename(join(path, `${job}.new`), join(path, job));
		},
	};
}

/** What `gym status` tells of each benchmark. */
export async function statusOf(one: Project): Promise<Readonly<Record<string, Record<string, unknown>>>> {
	const { code, stdout, text } = await one.gym(["status", "-f", "lab.yaml", "-json"]);
	expect(code, text).toBe(0);
	const told = stdout
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => JSON.parse(line));
	const rows = told.filter(({ type }) => type === "status");
	return Object.fromEntries(rows.map((row) => [row.addr.split("/").at(-1), row]));
}

/** Changes a job as the cluster's operator. */
export async function updateJob(id: string, ...settings: readonly string[]): Promise<void> {
	const { code, stderr } = await on("ctl", "scontrol", "update", `JobId=${id}`, ...settings);
	expect(code, stderr).toBe(0);
}

/** Brings a job's time limit so near that Slurm sends its warning now; the job itself has time to end. */
export function warnJob(id: string): Promise<void> {
	return updateJob(id, "EndTime=now+60");
}
