/** A user with a folder of their own and the built program; nothing that their jobs started outlives a test. */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect, vi } from "vitest";

/** The built program. */
export const CLI = new URL("../../dist/cli.js", import.meta.url).pathname;

/** Folder of the demo, whose `bin/vllm` plays the model server. */
export const DEMO = new URL("../../examples/demo", import.meta.url).pathname;

/** How a command ended. */
export interface GymResult {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
	/** All of it, for messages. */
	readonly text: string;
}

/** One line of `gym status -json`. */
export interface StatusLine {
	readonly addr: string;
	readonly status: string;
	readonly note: string | null;
	readonly segments: number;
	readonly job_id: string | null;
	readonly rollouts_done: number | null;
	readonly rollouts_expected: number | null;
	readonly run_dir: string;
}

type Variables = Readonly<Record<string, string>>;

export interface User {
	/** Absolute and without links. */
	readonly folder: string;
	/** Runs `gym` in the folder; `env` is added to an environment that has little more than PATH. */
	gym(args: readonly string[], env?: Variables): Promise<GymResult>;
	/** The same for a command that has to end with 0. */
	ok(args: readonly string[], env?: Variables): Promise<GymResult>;
	/** Writes `gymfile.ts`, or another file of the folder. */
	write(text: string, name?: string): Promise<void>;
	/** What status says, by address. */
	status(args?: readonly string[]): Promise<ReadonlyMap<string, StatusLine>>;
	/** Waits until an address has this status; fails when it has another one that is final. */
	until(address: string, status: string): Promise<StatusLine>;
	/** Waits until a file is there; its text. */
	text(path: string): Promise<string>;
	/** Living processes whose arguments or environment name the folder, but for this test's own commands. */
	processes(): Promise<readonly number[]>;
}

const PATIENCE = { timeout: 40_000, interval: 100 };

/** Each look is a program of its own. */
const LOOKS = { ...PATIENCE, interval: 500 };

const LIVE = ["submitting", "held", "pending", "running", "completing"];

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const address = server.address();
	await new Promise((resolve) => server.close(resolve));
	return typeof address === "object" && address ? address.port : 0;
}

function run(folder: string, args: readonly string[], env: Variables): Promise<GymResult> {
	const child = spawn(process.execPath, [CLI, ...args], {
		cwd: folder,
		env: { PATH: process.env.PATH ?? "", HOME: folder, NO_COLOR: "1", ...env },
		stdio: ["ignore", "pipe", "pipe"],
	});
	return new Promise((resolve, reject) => {
		const out: Buffer[] = [];
		const err: Buffer[] = [];
		child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
		child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
		child.on("error", reject);
		child.on("close", (code) => {
			const [stdout, stderr] = [Buffer.concat(out).toString(), Buffer.concat(err).toString()];
			resolve({ code, stdout, stderr, text: `gym ${args.join(" ")}: exit ${code}\n${stdout}${stderr}` });
		});
	});
}

/** Arguments and environment of every process that can be read. */
export async function commandLines(): Promise<ReadonlyMap<number, { argv: string; env: string }>> {
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	const read = (path: string) => readFile(path, "utf8").catch(() => "");
	const found = new Map<number, { argv: string; env: string }>();
	for (const pid of pids) {
		const [argv, env] = [await read(`/proc/${pid}/cmdline`), await read(`/proc/${pid}/environ`)];
		found.set(Number(pid), { argv, env });
	}
	return found;
}

function userIn(folder: string): User {
	const user: User = {
		folder,
		gym: (args, env = {}) => run(folder, args, env),
		async ok(args, env) {
			const result = await user.gym(args, env);
			expect(result.code, result.text).toBe(0);
			return result;
		},
		write: (text, name = "gymfile.ts") => writeFile(join(folder, name), text),
		async status(args = []) {
			const { stdout } = await user.ok(["status", "-json", ...args]);
			const lines = stdout.split("\n").filter((line) => line !== "");
			const events = lines.map((line) => JSON.parse(line) as StatusLine & { readonly type: string });
			return new Map(events.filter(({ type }) => type === "status").map((one) => [one.addr, one]));
		},
		async until(address, status) {
			const line = await vi.waitFor(async () => {
				const seen = (await user.status()).get(address)!;
				if (seen.status !== status && LIVE.includes(seen.status)) throw new Error(`still ${seen.status}`);
				return seen;
			}, LOOKS);
			expect(line).toMatchObject({ status });
			return line;
		},
		text: (path) => vi.waitFor(() => readFile(join(folder, path), "utf8"), PATIENCE),
		async processes() {
			const all = [...(await commandLines())];
			return all.flatMap(([pid, { argv, env }]) =>
				argv.includes(folder) || env.includes(`GYM_LOCAL_JOB=${folder}`) ? [pid] : [],
			);
		},
	};
	return user;
}

/** Waits until nothing that the user's jobs started lives. */
export async function allGone(user: User): Promise<void> {
	await vi.waitFor(async () => expect(await user.processes()).toEqual([]), { ...PATIENCE, timeout: 15_000 });
}

/** One that is gone by now, with another one that was killed, is no failure. */
function kill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It has ended.
	}
}

/** A test with a `user`; at its end every job must be over, and no process of one left. */
export const test = base.extend<{ user: User }>({
	// biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are needed
	user: async ({}, use) => {
		const folder = await realpath(await mkdtemp(join(tmpdir(), "gym-local-")));
		const user = userIn(folder);
		try {
			await use(user);
			await allGone(user);
		} finally {
			for (const pid of await user.processes()) kill(pid);
			await rm(folder, { recursive: true, force: true });
		}
	},
});
