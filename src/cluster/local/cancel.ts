/**
 * Cancelling: the stop mark first, then every job of exactly these directories, until two listings in a row are empty:
 * a job may just be queueing its successor, which looks for the mark once it has an entry. A waiting or running one is
 * asked through its supervisor, whose pid is only trusted with its start time and boot.
 */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fail, GymError } from "../../errors.ts";
import type { CancelOutcome } from "../scheduler.ts";
import { errorCode } from "./atomic-files.ts";
import { LABEL, type LocalContext } from "./context.ts";
import { endLeftovers } from "./gone.ts";
import {
	type Entry,
	epochSeconds,
	neverRan,
	readEntries,
	recordEnd,
	registryOf,
	type Standing,
	standing,
	takeEntry,
} from "./registry.ts";
import { lockRunDir } from "./run-lock.ts";
import { markStopped } from "./stop-mark.ts";
import { missingPaths } from "./submission-files.ts";

/** Milliseconds after which what has not ended is reported as left: more than a script's grace. */
const PATIENCE_MS = 60_000;

const POLL_MS = 50;

/**
 * Cancels the user's own jobs whose working directory is one of these, once no submitter of theirs is at work.
 * @throws GymError exit `failure`, code `cancel-failed`, e.g. when the disk is full
 */
export async function cancel(jobDirs: readonly string[], context: LocalContext): Promise<CancelOutcome> {
	try {
		for (const runDir of new Set(jobDirs.map((dir) => dirname(dir)))) {
			if ((await missingPaths([runDir])).length > 0) continue;
			const lock = await lockRunDir(runDir, context);
			await lock.release();
		}
		return await cancelJobs(jobDirs, context);
	} catch (error) {
		if (GymError.is(error)) throw error;
		const message = `cancelling stopped on ${LABEL}: ${String(error)}`;
		throw fail("failure", "cancel-failed", message, "run the command again", error);
	}
}

/** The same for who has the lock of the run directory, or works on another one. */
export async function cancelJobs(jobDirs: readonly string[], context: LocalContext): Promise<CancelOutcome> {
	const { host, points, now } = context;
	for (const dir of jobDirs) await markStopped(dir);
	await points.reach("cancel.marked");
	const cancelled = new Map<string, string[]>(jobDirs.map((dir) => [dir, []]));
	const since = host.monotonicMs();
	let live = await liveJobs(jobDirs, context);
	let empty = 0;
	while (host.monotonicMs() - since < PATIENCE_MS) {
		empty = live.length === 0 ? empty + 1 : 0;
		if (empty === 2) break;
		if (live.length === 0) await host.sleep(POLL_MS);
		await Promise.all(live.map((entry) => stop(entry, since + PATIENCE_MS, context)));
		for (const entry of live) {
			const seen = await standing(entry, host);
			if (seen.phase === "ended" && seen.end.state === "CANCELLED") {
				cancelled.get(entry.job.jobDir)?.push(String(entry.job.id));
			}
		}
		live = await liveJobs(jobDirs, context);
	}
	await points.reach("cancel.done");
	const left = [...new Set(live.map((entry) => entry.job.jobDir))];
	for (const dir of jobDirs) if (!left.includes(dir)) await rm(join(dir, ".env"), { force: true });
	return { at: epochSeconds(now()), cancelled, left };
}

async function liveJobs(jobDirs: readonly string[], { outputPath, host }: LocalContext) {
	const live: Entry[] = [];
	for (const entry of await readEntries(registryOf(outputPath))) {
		if (entry.job.user !== host.user || !jobDirs.includes(entry.job.jobDir)) continue;
		if ((await standing(entry, host)).phase !== "ended") live.push(entry);
	}
	return live;
}

/** Returns when the job has ended, or at `deadline` on the host's monotonic clock. */
async function stop(entry: Entry, deadline: number, { host, now }: LocalContext): Promise<void> {
	const before = await standing(entry, host);
	if (before.phase === "held") {
		// Whoever takes the entry decides: a supervisor that is just being started loses, or is asked in the next round.
		if (!(await takeEntry(entry, host))) return;
		return recordEnd(entry, neverRan(now()));
	}
	if (before.phase !== "ended" && before.phase !== "gone") ask(before.owner.pid);
	for (let seen: Standing = before; seen.phase !== "ended"; seen = await standing(entry, host)) {
		if (seen.phase === "gone") return endLeftovers(entry, "CANCELLED", host, now);
		if (host.monotonicMs() > deadline) return;
		await host.sleep(POLL_MS);
	}
}

function ask(supervisor: number): void {
	try {
		process.kill(supervisor, "SIGTERM");
	} catch (error) {
		if (errorCode(error) !== "ESRCH") throw error; // gone: the next look says how
	}
}
