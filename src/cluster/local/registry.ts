/**
 * The registry of an output path: one folder per job, `.gym-local/jobs/<id>/`. Every file in it is made once, whole
 * and exclusively, and never changed:
 * - `job.json`: what the job is; there from the moment at which the folder has its name;
 * - `supervisor.json`: the process that runs it. Whoever makes this file decides what becomes of the job;
 * - `started.json`: when its script was started;
 * - `end.json`: how it ended. A job whose supervisor is gone without it fell with this machine (NODE_FAIL).
 * Ids are never freed, so a new one is higher than all others.
 */
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Host } from "../../../state/host.ts";
import { fail } from "../../errors.ts";
import { createExclusively, errorCode, makeFolder, readIfThere } from "./atomic-files.ts";
import { isAlive, type Owner, signature } from "./claims.ts";

/** What a job is. */
export interface LocalJob {
	readonly id: number;
	/** The job that it goes on after: its script's argument; null for none. */
	readonly previous: number | null;
	/** Did the previous job itself queue it? Then it waits for that one's end, and never runs when that one completes. */
	readonly dependent: boolean;
	/** Absolute; its benchmark's directory. */
	readonly jobDir: string;
	/** Login name of who submitted it. */
	readonly user: string;
	/** Epoch seconds. */
	readonly submittedAt: number;
	/** Seconds that it may run; null for no limit. */
	readonly walltime: number | null;
}

/** Final states, in Slurm's words. */
export type EndState = "COMPLETED" | "FAILED" | "CANCELLED" | "TIMEOUT" | "NODE_FAIL";

/** How a job ended. Times are epoch seconds. */
export interface JobEnd {
	readonly state: EndState;
	/** Null when the script never ended by itself or never ran. */
	readonly exitCode: number | null;
	/** Number of the signal that ended the script. */
	readonly signal: number | null;
	readonly startedAt: number | null;
	readonly endedAt: number;
}

/** The end of a job that was cancelled before its script was started. */
export function neverRan(now: Date): JobEnd {
	return { state: "CANCELLED", exitCode: null, signal: null, startedAt: null, endedAt: epochSeconds(now) };
}

/** Jobs from before there were chains say nothing of a previous one. */
type StoredJob = Omit<LocalJob, "previous" | "dependent"> & Partial<LocalJob>;

/** A job of the registry. */
export interface Entry {
	/** Of the registry; also the mark by which the job's processes are known. */
	readonly folder: string;
	readonly job: LocalJob;
}

/**
 * Where a job stands. `held`: no supervisor was ever started; `dependent`: it waits for the end of the job that queued
 * it, `waiting`: for its turn; `gone`: its supervisor is, without an end.
 */
export type Standing =
	| { readonly phase: "held" }
	| {
			readonly phase: "dependent" | "waiting" | "running" | "gone";
			readonly owner: Owner;
			readonly startedAt: number | null;
	  }
	| { readonly phase: "ended"; readonly end: JobEnd };

/** Epoch seconds, as the registry has them. */
export function epochSeconds(date: Date): number {
	return Math.floor(date.getTime() / 1_000);
}

/** The registry's folder. */
export function registryOf(outputPath: string): string {
	return join(outputPath, ".gym-local");
}

/** Folder of the claim that only the supervisor of the running job holds. */
export function turnFolder(registry: string): string {
	return join(registry, "running");
}

async function readJson<Content>(path: string): Promise<Content | null> {
	const text = await readIfThere(path);
	if (text === null) return null;
	try {
		return JSON.parse(text) as Content;
	} catch (cause) {
		throw fail(
			"failure",
			"registry-unreadable",
			`${path} is not JSON`,
			"restore or remove its folder",
			cause,
		);
	}
}

/** All ids, lowest first; none when there is no registry. */
export async function jobIds(registry: string): Promise<readonly number[]> {
	try {
		const names = await readdir(join(registry, "jobs"));
		return names
			.filter((name) => /^\d+$/.test(name))
			.map(Number)
			.sort((a, b) => a - b);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return [];
		throw error;
	}
}

/** The folder of a job. */
export function entryFolder(registry: string, id: number): string {
	return join(registry, "jobs", String(id));
}

/** Null when there is no such entry. @throws GymError exit `failure`, code `registry-unreadable` */
async function findEntry(folder: string): Promise<Entry | null> {
	const job = await readJson<StoredJob>(join(folder, "job.json"));
	return job && { folder, job: { previous: null, dependent: false, ...job } };
}

/** @throws GymError exit `failure`, code `registry-unreadable` */
export async function readEntry(folder: string): Promise<Entry> {
	const entry = await findEntry(folder);
	if (entry) return entry;
	throw fail("failure", "registry-unreadable", `${folder} has no job.json`, "restore or remove that folder");
}

/** All jobs, lowest id first. */
export async function readEntries(registry: string): Promise<readonly Entry[]> {
	return Promise.all((await jobIds(registry)).map((id) => readEntry(entryFolder(registry, id))));
}

/** Adds a job, held. `temp` is a folder of nobody else on the same file system; it becomes the job's. */
export async function addEntry(registry: string, temp: string, job: Omit<LocalJob, "id">): Promise<Entry> {
	await rm(temp, { recursive: true, force: true });
	await mkdir(temp, { mode: 0o755 });
	return place(registry, temp, job);
}

/** Adds a job that this process has taken before anybody sees it. `temp` is there, and has nothing of an entry. */
export async function addTaken(
	registry: string,
	temp: string,
	job: Omit<LocalJob, "id">,
	host: Host,
): Promise<Entry> {
	await createExclusively(join(temp, "supervisor.json"), signature(host));
	return place(registry, temp, job);
}

async function place(registry: string, temp: string, job: Omit<LocalJob, "id">): Promise<Entry> {
	await makeFolder(join(registry, "jobs"));
	for (;;) {
		const id = ((await jobIds(registry)).at(-1) ?? 0) + 1;
		const folder = entryFolder(registry, id);
		await writeFile(join(temp, "job.json"), `${JSON.stringify({ id, ...job })}\n`, { mode: 0o644 });
		try {
			await rename(temp, folder); // fails when somebody else took the id: their folder is not empty
			return { folder, job: { id, ...job } };
		} catch (error) {
			if (errorCode(error) !== "ENOTEMPTY" && errorCode(error) !== "EEXIST") throw error;
		}
	}
}

/** Where the job stands now. */
export async function standing(entry: Entry, host: Host): Promise<Standing> {
	const { folder } = entry;
	const owner = await readJson<Owner>(join(folder, "supervisor.json"));
	const alive = owner !== null && isAlive(owner, host);
	const started = await readJson<{ readonly at: number }>(join(folder, "started.json"));
	// Last: a supervisor writes it before it goes.
	const end = await readJson<JobEnd>(join(folder, "end.json"));
	if (end) return { phase: "ended", end };
	if (!owner) return { phase: "held" };
	const startedAt = started?.at ?? null;
	if (!alive) return { phase: "gone", owner, startedAt };
	if (started) return { phase: "running", owner, startedAt };
	const before = await standingBefore(entry, host);
	return { phase: before && isLive(before) ? "dependent" : "waiting", owner, startedAt };
}

/** Where the job stands on whose end this one depends; null when there is none. */
export async function standingBefore({ folder, job }: Entry, host: Host): Promise<Standing | null> {
	const before = job.dependent ? await findEntry(join(folder, "..", String(job.previous))) : null;
	return before && standing(before, host);
}

/** Is somebody at work who will bring the job to its end? */
export function isLive({ phase }: Standing): boolean {
	return phase === "dependent" || phase === "waiting" || phase === "running";
}

/** Makes this process the one that decides what becomes of the job; false when another one is, or was. */
export function takeEntry({ folder }: Entry, host: Host): Promise<boolean> {
	return createExclusively(join(folder, "supervisor.json"), signature(host));
}

/** The script is about to be started, at `at` epoch seconds. */
export async function recordStart({ folder }: Entry, at: number): Promise<void> {
	await createExclusively(join(folder, "started.json"), `${JSON.stringify({ at })}\n`);
}

/** Records the end; the first record stays. */
export async function recordEnd({ folder }: Entry, end: JobEnd): Promise<void> {
	await createExclusively(join(folder, "end.json"), `${JSON.stringify(end)}\n`);
}
