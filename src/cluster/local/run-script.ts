/** Runs the script of one job to its end, within its time limit, and leaves nothing of it running. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";
import type { Host } from "../../../state/host.ts";
import type { Environment } from "./environment.ts";
import { endProcesses } from "./processes.ts";
import type { EndState, Entry, JobEnd, LocalJob } from "./registry.ts";

/** Most seconds between the warning and the time limit. */
const LONGEST_LEAD = 120;

/** Milliseconds that the script gets to end by itself after TERM: it stops its steps and writes its records. */
const GRACE_MS = 30_000;

const POLL_MS = 100;

/** How the script itself ended. */
export type ScriptEnd = Pick<JobEnd, "state" | "exitCode" | "signal">;

/** Seconds before the limit at which the script hears USR1: enough for the driver to stop in, but only the end of a short job. */
export function warningLead(walltime: number): number {
	return Math.min(LONGEST_LEAD, walltime / 6);
}

/**
 * Runs `bash job.sh [PREVIOUS]` in the job's directory, in a session of its own, its output in `logs/job-<id>.log`.
 * USR1 before the time limit; at the limit, or when `cancel` is aborted, TERM, and KILL to all after a grace.
 */
export async function runScript(
	{ folder, job }: Entry,
	env: Environment,
	host: Host,
	cancel: AbortSignal,
): Promise<ScriptEnd> {
	const script = start(job, env);
	const ended = endOf(script);
	const limit = job.walltime === null ? Number.POSITIVE_INFINITY : job.walltime * 1_000;
	const warning = job.walltime === null ? limit : limit - warningLead(job.walltime) * 1_000;
	const startedAt = host.monotonicMs();
	let warned = false;
	let stopped: { readonly state: EndState; readonly at: number } | null = null;
	let end: ScriptEnd | null = null;
	while (end === null) {
		const now = host.monotonicMs() - startedAt;
		if (!warned && now >= warning) {
			warned = true;
			script.kill("SIGUSR1");
		}
		if (!stopped && (cancel.aborted || now >= limit)) {
			stopped = { state: cancel.aborted ? "CANCELLED" : "TIMEOUT", at: now };
			script.kill("SIGTERM");
		}
		if (stopped && now >= stopped.at + GRACE_MS) await endProcesses(folder, script.pid ?? null, host);
		end = await Promise.race([ended, host.sleep(POLL_MS).then(() => null)]);
	}
	await endProcesses(folder, script.pid ?? null, host);
	return stopped ? { ...end, state: stopped.state } : end;
}

function start({ id, jobDir, previous }: LocalJob, env: Environment): ChildProcess {
	const words = ["job.sh", ...(previous === null ? [] : [String(previous)])];
	const log = openSync(`${jobDir}/logs/job-${id}.log`, "a", 0o644);
	try {
		return spawn("bash", words, { cwd: jobDir, env, detached: true, stdio: ["ignore", log, log] });
	} finally {
		closeSync(log);
	}
}

/** A script that could not be started ended with 127, as a shell says it. */
function endOf(script: ChildProcess): Promise<ScriptEnd> {
	return new Promise((resolve) => {
		script.once("error", () => resolve({ state: "FAILED", exitCode: 127, signal: null }));
		script.once("exit", (code, name) => {
			const signal = name === null ? null : constants.signals[name];
			const exitCode = code ?? 128 + (signal ?? 0);
			resolve({ state: exitCode === 0 ? "COMPLETED" : "FAILED", exitCode, signal });
		});
	});
}
