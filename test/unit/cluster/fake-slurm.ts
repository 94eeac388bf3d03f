/** Stand-ins for Slurm's programs, with a queue of their own, for running the exchanges' real scripts. */
import { execFileSync, spawn } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Scheduler } from "../../../src/cluster/scheduler.ts";
import { slurmScheduler } from "../../../src/cluster/slurm/scheduler.ts";
import { noPoints } from "../../../src/points.ts";
import { tempFolder } from "./transport-io.ts";

/** The user whom the scripts run as. */
export const USER = userInfo().username;

/** How a script ended. */
export interface Ran {
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** One job of the stand-in queue. */
export interface FakeJob {
	readonly id: number;
	readonly state: string;
	readonly reason: string;
	readonly user: string;
	readonly dir: string;
}

/** A cluster of stand-ins. */
export interface FakeSlurm {
	/** Its folder; tests put output paths below it. */
	readonly folder: string;
	/**
	 * Bash text that a program runs first, e.g. `exit 1`. It may use `$count` (calls of the program so far, this
	 * one included) and for sbatch `$name` (the benchmark), `$nth` (calls for it) and `queue` (queues the job).
	 */
	on(program: keyof typeof PROGRAMS, text: string): Promise<void>;
	/** Runs a script as the transport does. `before` runs in the same shell first. */
	run(script: string, before?: string): Promise<Ran>;
	jobs(): Promise<readonly FakeJob[]>;
	/** Queues a job, as somebody else would. */
	add(job: FakeJob): Promise<void>;
	/** Calls of a program so far, arguments joined by spaces. */
	calls(program: string): Promise<readonly string[]>;
	/** sbatch's environment at its `nth` call, from 1. */
	environment(nth: number): Promise<ReadonlyMap<string, string>>;
}

/** What each program does first: the queue file is `ID|STATE|REASON|USER|DIR` a line. */
const COMMON = `
me=\${0##*/}
printf '%s\\n' "\${*//$'\\n'/ }" >>"$FAKE/calls.$me"
count=$(wc -l <"$FAKE/calls.$me")
`;

const PROGRAMS = {
	sbatch: `
for arg; do case $arg in --chdir=*) dir=\${arg#--chdir=} ;; esac; done
name=\${dir##*/}
printf 'x' >>"$FAKE/nth.$name"; nth=$(wc -c <"$FAKE/nth.$name")
env -0 >"$FAKE/env.$count"
queue() {
  id=$(($(cat "$FAKE/last" 2>/dev/null || echo 100) + 1)); echo "$id" >"$FAKE/last"
  printf '%s|PENDING|JobHeldUser|%s|%s\\n' "$id" "$(id -un)" "$dir" >>"$FAKE/queue"
}
. "$FAKE/on.sbatch"
queue; echo "$id"`,
	squeue: `
. "$FAKE/on.squeue"
all=; while (($#)); do case $1 in -o) format=$2; shift ;; -t) all=1; shift ;; esac; shift; done
while IFS='|' read -r id state reason user dir; do
  case $all$state in 1* | PENDING | RUNNING | COMPLETING | SUSPENDED) ;; *) continue ;; esac
  line=$format
  line=\${line//%A/$id}; line=\${line//%T/$state}; line=\${line//%r/$reason}; line=\${line//%u/$user}
  line=\${line//%V/1700000000}; line=\${line//%S/N/A}; line=\${line//%M/0:00}; line=\${line//%D/1}; line=\${line//%N/}
  printf '%s\\n' "\${line//%Z/"$dir"}"
done <"$FAKE/queue"`,
	scontrol: `
. "$FAKE/on.scontrol"
shift
for id; do sed -i "s/^$id|PENDING|JobHeldUser|/$id|PENDING|Priority|/" "$FAKE/queue"; done`,
	scancel: `
. "$FAKE/on.scancel"
for id; do sed -i "s/^$id|[A-Z]*|[A-Za-z]*|/$id|CANCELLED|None|/" "$FAKE/queue"; done`,
	sleep: `
. "$FAKE/on.sleep"`,
	// These know nothing unless a test tells them.
	sinfo: `
. "$FAKE/on.sinfo"; exit 1`,
	sacctmgr: `
. "$FAKE/on.sacctmgr"; exit 1`,
	sacct: `
. "$FAKE/on.sacct"; exit 1`,
};

/** Sets up the stand-ins; nothing is queued. */
export async function fakeSlurm(): Promise<FakeSlurm> {
	const folder = await tempFolder();
	const state = join(folder, "fake");
	const bin = join(folder, "bin");
	await mkdir(state);
	await mkdir(bin);
	await writeFile(join(state, "queue"), "");
	for (const [name, text] of Object.entries(PROGRAMS)) {
		await writeFile(join(bin, name), `#!/bin/bash\nFAKE='${state}'${COMMON}${text}\n`);
		await chmod(join(bin, name), 0o755);
		await writeFile(join(state, `on.${name}`), "");
	}
	const read = (name: string) => readFile(join(state, name), "utf8").catch(() => "");
	return {
		folder,
		on: (program, text) => writeFile(join(state, `on.${program}`), text),
		run: (script, before = "") => runBash(`${before}\n${script}`, `${bin}:/usr/bin:/bin`),
		async jobs() {
			return (await read("queue"))
				.split("\n")
				.filter(Boolean)
				.map((line) => {
					const [id, jobState, reason, user, ...dir] = line.split("|");
					return { id: Number(id), state: jobState!, reason: reason!, user: user!, dir: dir.join("|") };
				});
		},
		add: (job) =>
			writeFile(join(state, "queue"), `${job.id}|${job.state}|${job.reason}|${job.user}|${job.dir}\n`, {
				flag: "a",
			}),
		calls: async (program) => (await read(`calls.${program}`)).split("\n").filter(Boolean),
		async environment(nth) {
			const entries = (await read(`env.${nth}`)).split("\0").filter(Boolean);
			return new Map(
				entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
			);
		},
	};
}

/** The real scheduler over these stand-ins. `before` is bash text that the same shell runs first. */
export function schedulerOn(slurm: FakeSlurm, before = ""): Scheduler {
	const run = (_: string, script: string) => slurm.run(script, before);
	return slurmScheduler({ label: "here", run, close: async () => {} } as never, noPoints);
}

function runBash(script: string, path: string): Promise<Ran> {
	return new Promise((resolve, reject) => {
		const env = { PATH: path, HOME: "/nonexistent", LANG: "C.UTF-8" };
		const child = spawn("bash", ["-s"], { env: env as unknown as NodeJS.ProcessEnv });
		let [stdout, stderr] = ["", ""];
		child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
		child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
		child.on("error", reject);
		child.on("close", (code) => resolve({ code, stdout, stderr }));
		child.stdin.on("error", () => {}); // a script may end before it was read to its end
		child.stdin.end(script);
	});
}

/** What shellcheck has to say of a script, at warning level; empty when it is content. */
export function shellcheck(script: string): string {
	try {
		return execFileSync("shellcheck", ["-s", "bash", "-S", "warning", "-"], {
			input: script,
			encoding: "utf8",
		});
	} catch (error) {
		return String((error as { stdout?: string }).stdout || error);
	}
}
