/** Runs the built program as a user would, in a folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { clusterInfo, freshOutputPath } from "../setup/cluster.ts";

/** The built program. */
export const CLI = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** How a command ended. */
export interface GymResult {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
	/** Both, for messages. */
	readonly text: string;
}

/** A user's folder with one submit document, and where its runs go. */
export interface Project {
	readonly folder: string;
	readonly outputPath: string;
	/** Runs `gym` there; `env` is added to the user's environment. */
	gym(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<GymResult>;
	/** Writes the document `lab.yaml` anew. */
	write(document: unknown): Promise<void>;
	/** The current state document as text; fails when there is none. */
	stateText(): Promise<string>;
}

/** A program that is at work. */
export interface RunningGym {
	readonly process: ChildProcess;
	/** Resolves once it has ended. */
	readonly ended: Promise<GymResult>;
}

/** Starts the program once. */
export function startGym(
	folder: string,
	args: readonly string[],
	env: Readonly<Record<string, string>> = {},
): RunningGym {
	const base = {
		PATH: process.env.PATH,
		HOME: folder,
		GYMFILE_SSH_CONFIG: clusterInfo().sshConfig,
		NO_COLOR: "1",
	};
	const child = spawn(process.execPath, [CLI, ...args], {
		cwd: folder,
		env: { ...base, ...env } as NodeJS.ProcessEnv,
		stdio: ["ignore", "pipe", "pipe"],
	});
	const ended = new Promise<GymResult>((resolve, reject) => {
		const out: Buffer[] = [];
		const err: Buffer[] = [];
		child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
		child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
		child.on("error", reject);
		child.on("close", (code, signal) => {
			const stdout = Buffer.concat(out).toString();
			const stderr = Buffer.concat(err).toString();
			resolve({ code, signal, stdout, stderr, text: `exit ${code ?? signal}\n${stdout}${stderr}` });
		});
	});
	return { process: child, ended };
}

/** Runs the program once, to its end. */
export function runGym(
	folder: string,
	args: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Promise<GymResult> {
	return startGym(folder, args, env).ended;
}

/** A fresh folder for one test, removed after it. */
export async function project(): Promise<Project> {
	const folder = await mkdtemp(join(tmpdir(), "gymfile-test-"));
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	const outputPath = await freshOutputPath();
	return {
		folder,
		outputPath,
		gym: (args, env) => runGym(folder, args, env),
		write: (document) =>
			writeFile(join(folder, "lab.yaml"), stringify(document, { version: "1.1", lineWidth: 0 })),
		async stateText() {
			const { readdir } = await import("node:fs/promises");
			const names = await readdir(join(folder, ".gym", "lab"));
			const serials = names.flatMap((name) => /^state\.(\d+)\.json$/.exec(name)?.[1] ?? []).map(Number);
			return readFile(join(folder, ".gym", "lab", `state.${Math.max(...serials)}.json`), "utf8");
		},
	};
}

/** What a test's document may say beyond the usual. */
export interface DocumentOptions {
	readonly outputPath: string;
	readonly benchmarks: Readonly<Record<string, unknown>>;
	readonly policy?: Readonly<Record<string, unknown>>;
	readonly driver?: Readonly<Record<string, unknown>>;
	readonly compute?: Readonly<Record<string, unknown>>;
}

/** A document with one vLLM server on one node of the test bed. */
export function labDocument({ outputPath, benchmarks, policy, driver, compute }: DocumentOptions) {
	return {
		services: {
			policy: {
				type: "vllm",
				container: "vllm/vllm-openai:v0.11.0",
				model: "acme/talker-8b",
				tensor_parallel_size: 8,
				...policy,
			},
		},
		compute: {
			lab: {
				type: "slurm",
				hostname: "login",
				account: "acct",
				walltime: "10",
				// Whole nodes: two servers on one node would want the same port.
				node_pools: { gpu: { partition: "batch", gpus_per_node: 8 } },
				...compute,
			},
		},
		driver: { policy_model: "policy", ...driver, benchmarks },
		job: { output_path: outputPath },
		otel: { enabled: false },
	};
}
