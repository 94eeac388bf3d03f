/** Real local jobs in a folder of a test; nothing of them outlives it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { expect, onTestFinished, vi } from "vitest";
import type { QueueRow } from "../../../src/cluster/jobs.ts";
import type { LocalContext } from "../../../src/cluster/local/context.ts";
import { localScheduler } from "../../../src/cluster/local/scheduler.ts";
import type { Scheduler, Submission } from "../../../src/cluster/scheduler.ts";
import { noPoints } from "../../../src/points.ts";
import { thisHost } from "../../../state/backends/host.ts";
import { type SubmitterOrder, submissionOf } from "./local-submitter.ts";

/** The bundled programs of these tests. */
export interface Programs {
	readonly supervisor: string;
	readonly submitter: string;
	remove(): Promise<void>;
}

/** Bundles supervisor and submitter. */
export async function buildPrograms(): Promise<Programs> {
	const folder = await mkdtemp(join(tmpdir(), "gym-programs-"));
	await build({
		entryPoints: {
			supervisor: new URL("../../../src/cluster/local/supervisor.ts", import.meta.url).pathname,
			submitter: new URL("local-submitter.ts", import.meta.url).pathname,
		},
		bundle: true,
		platform: "node",
		format: "esm",
		outdir: folder,
		outExtension: { ".js": ".mjs" },
	});
	return {
		supervisor: join(folder, "supervisor.mjs"),
		submitter: join(folder, "submitter.mjs"),
		remove: () => rm(folder, { recursive: true, force: true }),
	};
}

export interface LocalWorld {
	readonly outputPath: string;
	readonly scheduler: Scheduler;
	/** A submission in the run directory `run`. */
	submission(run: string, scripts: Readonly<Record<string, string>>, more?: Partial<Submission>): Submission;
	/** The queue by benchmark directory. */
	queue(): Promise<ReadonlyMap<string, QueueRow>>;
	/** Waits until the job of `run/benchmark` is in this state. */
	until(job: string, state: string): Promise<QueueRow>;
	/** Waits until a file below the output path is there and complete; its text. */
	text(path: string): Promise<string>;
	/** A submitter as a process of its own, ready to begin. */
	submitter(
		order: Omit<SubmitterOrder, "outputPath" | "supervisor" | "runDir"> & { run: string },
	): Promise<Submitter>;
}

export interface Submitter {
	/** Lets it submit; the ids that it got, null when it was killed. */
	submit(): Promise<readonly string[] | null>;
}

const PATIENCE = { timeout: 40_000, interval: 50 };

/** Waits until `check` no longer throws. */
export function waitFor<Result>(check: () => Promise<Result>): Promise<Result> {
	return vi.waitFor(check, PATIENCE);
}

/** Is there a living process with this pid? */
export function isRunning(pid: number): boolean {
	return thisHost().processAt(pid) !== null;
}

/** Pids of living processes whose arguments or environment hold this text. */
export async function processesWith(text: string): Promise<readonly number[]> {
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
	const holds = async (pid: number, file: string) =>
		(await readFile(`/proc/${pid}/${file}`, "latin1").catch(() => "")).includes(text);
	const found = await Promise.all(
		pids.map(
			async (pid) => ((await holds(pid, "cmdline")) || (await holds(pid, "environ"))) && isRunning(pid),
		),
	);
	return pids.filter((_, index) => found[index]);
}

/** An output path of its own; at the end of the test all its jobs are cancelled, and nothing may be left of them. */
export async function localWorld(
	programs: Programs,
	context: Partial<LocalContext> = {},
): Promise<LocalWorld> {
	const root = await mkdtemp(join(tmpdir(), "gym-local-"));
	const outputPath = join(root, "out put's");
	const scheduler = localScheduler({
		outputPath,
		host: thisHost(),
		points: noPoints,
		env: process.env,
		supervisor: programs.supervisor,
		now: () => new Date(),
		...context,
	});
	const queue = async () => {
		const { queue } = await scheduler.observe([], null);
		return new Map(queue!.map((row) => [row.workDir, row]));
	};
	const children: ChildProcess[] = [];
	onTestFinished(async () => {
		for (const child of children) child.kill("SIGKILL");
		await scheduler.cancel([...(await queue()).keys()]);
		await waitFor(async () => expect(await processesWith(root)).toEqual([]));
		await rm(root, { recursive: true, force: true });
	});
	return {
		outputPath,
		scheduler,
		queue,
		submission: (run, scripts, more = {}) => ({
			...submissionOf({ outputPath, runDir: `${outputPath}/${run}`, scripts }),
			...more,
		}),
		until: (job, state) =>
			waitFor(async () => {
				const row = (await queue()).get(`${outputPath}/${job}`);
				expect(row?.state).toBe(state);
				return row!;
			}),
		text: (path) =>
			waitFor(async () => {
				const text = await readFile(join(outputPath, path), "utf8");
				expect(text).toMatch(/\n$/);
				return text;
			}),
		async submitter({ run, ...order }) {
			const child = spawn(process.execPath, [programs.submitter, "run"], {
				stdio: ["pipe", "pipe", "inherit"],
			});
			children.push(child);
			const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
			const runDir = `${outputPath}/${run}`;
			child.stdin.write(
				`${JSON.stringify({ ...order, outputPath, runDir, supervisor: programs.supervisor })}\n`,
			);
			expect((await lines.next()).value).toBe("ready");
			return {
				async submit() {
					const exited = once(child, "exit");
					child.stdin.write("go\n");
					const { value, done } = await lines.next();
					await exited;
					return done ? null : (JSON.parse(value) as string[]);
				},
			};
		},
	};
}
