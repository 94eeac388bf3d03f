/** The life of one job's supervisor: take the job, wait for its turn, run it, record its end. */
import { join } from "node:path";
import type { Host } from "../../../state/host.ts";
import { type Claim, claim } from "./claims.ts";
import { type Environment, type Program, scriptEnvironment } from "./environment.ts";
import { endGone } from "./gone.ts";
import {
	addTaken,
	type Entry,
	entryFolder,
	epochSeconds,
	isLive,
	type JobEnd,
	jobIds,
	neverRan,
	readEntry,
	recordEnd,
	recordStart,
	standing,
	standingBefore,
	takeEntry,
	turnFolder,
} from "./registry.ts";
import { runScript, type ScriptEnd } from "./run-script.ts";
import { isStopped } from "./stop-mark.ts";

const POLL_MS = 150;

/** What a supervisor works with. */
export interface SupervisorIo {
	readonly host: Host;
	/** This machine's clock. */
	readonly now: () => Date;
	/** Aborted when the job is to be cancelled. */
	readonly cancel: AbortSignal;
	/** Says why the script could not be run; to the entry's own log. */
	readonly report: (words: string) => void;
	/** This program, for the script. */
	readonly program: Program;
}

/**
 * Runs the job of an entry. Returns at once when another process has taken it.
 * @param folder the entry, `<output path>/.gym-local/jobs/<id>`
 * @param env environment of the job's script
 */
export async function supervise(folder: string, env: Environment, io: SupervisorIo): Promise<void> {
	const entry = await readEntry(folder);
	if (await takeEntry(entry, io.host)) await attend(entry, env, io);
}

/**
 * Makes the successor of a running job, and runs it when that one has ended. Nothing when the chain is cancelled.
 * @param folder the running job's entry
 * @param temp folder that becomes the successor's entry
 * @param env environment of the successor's script
 */
export async function follow(
	folder: string,
	temp: string,
	env: Environment,
	io: SupervisorIo,
): Promise<void> {
	const { host, now, cancel } = io;
	const { id: previous, jobDir, walltime } = (await readEntry(folder)).job;
	if (cancel.aborted || (await isStopped(jobDir))) return;
	const submittedAt = epochSeconds(now());
	const job = { jobDir, user: host.user, submittedAt, walltime, previous, dependent: true };
	const entry = await addTaken(join(folder, "..", ".."), temp, job, host);
	// Who made the mark meanwhile may have listed the jobs before this one was among them.
	if (await isStopped(jobDir)) await recordEnd(entry, neverRan(now()));
	else await attend(entry, env, io);
}

async function attend(entry: Entry, env: Environment, io: SupervisorIo): Promise<void> {
	const { host, now, cancel } = io;
	const registry = join(entry.folder, "..", "..");
	const turn = await waitForTurn(entry, registry, io);
	try {
		if (turn) await endGone(registry, host, now); // their processes may still hold ports and memory
		const dropped = cancel.aborted || (await isNeedless(entry, host));
		await recordEnd(entry, dropped ? neverRan(now()) : await run(entry, env, io));
	} finally {
		await turn?.release();
	}
}

/** Has the job completed that this one was to go on after? */
async function isNeedless(entry: Entry, host: Host): Promise<boolean> {
	const before = await standingBefore(entry, host);
	return before?.phase === "ended" && before.end.state === "COMPLETED";
}

async function run(
	entry: Entry,
	env: Environment,
	{ host, now, cancel, report, program }: SupervisorIo,
): Promise<JobEnd> {
	const startedAt = epochSeconds(now());
	await recordStart(entry, startedAt);
	const scriptEnv = scriptEnvironment(env, entry, program);
	const end = await runScript(entry, scriptEnv, host, cancel).catch((error: unknown): ScriptEnd => {
		report(String(error));
		return { state: "FAILED", exitCode: 127, signal: null };
	});
	return { ...end, startedAt, endedAt: epochSeconds(now()) };
}

/**
 * Waits until no job that was submitted earlier is still to run or running; null when cancelled or needless
 * meanwhile. Since a held job may be released behind one that runs, the turn itself is a claim, and so is the
 * benchmark's directory.
 */
async function waitForTurn(entry: Entry, registry: string, io: SupervisorIo): Promise<Claim | null> {
	const lower = (await jobIds(registry)).filter((id) => id < entry.job.id);
	let earlier = await Promise.all(lower.map((id) => readEntry(entryFolder(registry, id))));
	while (!io.cancel.aborted && !(await isNeedless(entry, io.host))) {
		earlier = await fromFirstInTheWay(earlier, io.host);
		if (earlier.length === 0) {
			const turn = await claimAll([turnFolder(registry), join(entry.job.jobDir, ".running")], io.host);
			if (turn) return turn;
		}
		await io.host.sleep(POLL_MS);
	}
	return null;
}

/** Drops the jobs at the head of the list that nobody has to wait for; an end is never taken back. */
async function fromFirstInTheWay(earlier: Entry[], host: Host): Promise<Entry[]> {
	for (const [index, entry] of earlier.entries()) {
		if (isLive(await standing(entry, host))) return earlier.slice(index);
	}
	return [];
}

async function claimAll(folders: readonly string[], host: Host): Promise<Claim | null> {
	const claims: Claim[] = [];
	const release = async () => {
		for (const one of claims.toReversed()) await one.release();
	};
	for (const folder of folders) {
		const one = await claim(folder, host);
		if (one === null) {
			await release();
			return null;
		}
		claims.push(one);
	}
	return { release };
}
