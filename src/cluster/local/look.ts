/** One look at the registry and the run directories. Changes nothing. */
import { access, constants, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
	CHAIN_FILES,
	type Observation,
	type PreflightQuery,
	type PreflightResult,
	type RunFiles,
	type RunQuery,
} from "../scheduler.ts";
import { errorCode, readIfThere } from "./atomic-files.ts";
import type { LocalContext } from "./context.ts";
import { epochSeconds, readEntries, registryOf, standing } from "./registry.ts";
import { openIfThere, type Rollouts, readRollouts } from "./rollouts.ts";
import { accountingRow, queueRow } from "./rows.ts";
import { missingPaths, readIds } from "./submission-files.ts";

/** Looks at the whole queue, and closer at these runs. */
export async function look(
	queries: readonly RunQuery[],
	preflight: PreflightQuery | null,
	{ outputPath, host, now }: LocalContext,
): Promise<Observation> {
	const at = now();
	const entries = await readEntries(registryOf(outputPath));
	const seen = await Promise.all(entries.map(async (entry) => ({ entry, now: await standing(entry, host) })));
	const rollouts = await readRollouts(
		new Map(
			queries.flatMap(({ jobDir, rolloutsOffset }) =>
				rolloutsOffset === null ? [] : [[rolloutsPath(jobDir), rolloutsOffset]],
			),
		),
	);
	const runs = new Map<string, RunFiles>();
	for (const query of queries)
		runs.set(query.jobDir, await runFiles(query, rollouts.get(rolloutsPath(query.jobDir))));
	const asked = new Set(queries.flatMap((query) => query.jobIds));
	return {
		at: epochSeconds(at),
		user: host.user,
		queue: seen.map((one) => queueRow(one.entry, one.now, host, at)).filter((row) => row.user === host.user),
		accounting: seen
			.filter(({ entry }) => asked.has(String(entry.job.id)) || runs.has(entry.job.jobDir))
			.map((one) => accountingRow(one.entry, one.now, host, at)),
		preflight: preflight && (await checkMachine(preflight)),
		runs,
	};
}

/** Nothing of Slurm is needed here, so nothing of it is missing. */
async function checkMachine({ outputPath, mountSources }: PreflightQuery): Promise<PreflightResult> {
	return {
		sbatch: true,
		pyxis: true,
		writable: await canBeWritten(outputPath),
		missingMounts: await missingPaths(mountSources),
	};
}

/** Can the folder be written, or be made in the nearest one that is there? */
async function canBeWritten(folder: string): Promise<boolean> {
	try {
		if (!(await stat(folder)).isDirectory()) return false;
		await access(folder, constants.W_OK | constants.X_OK);
		return true;
	} catch (error) {
		const parent = dirname(folder);
		return errorCode(error) === "ENOENT" && parent !== folder && canBeWritten(parent);
	}
}

const UNREADABLE: readonly string[] = ["EACCES", "EPERM", "EISDIR", "ENOTDIR"];

const rolloutsPath = (jobDir: string) => join(jobDir, "artifacts", "rollouts.jsonl");

async function runFiles(
	{ jobDir, runDir, rolloutsOffset }: RunQuery,
	rollouts: Rollouts | undefined,
): Promise<RunFiles> {
	const ends = new Map<string, string>();
	for (const name of await namesIn(join(jobDir, "ends"))) {
		const text = /\d$/.test(name) ? await readIfReadable(join(jobDir, "ends", name)) : null;
		if (text !== null) ends.set(name, text);
	}
	const inputs = join(jobDir, "artifacts", "rollouts_materialized_inputs.jsonl");
	return {
		exists: (await missingPaths([jobDir])).length === 0,
		ends,
		chain: await readIfReadable(join(jobDir, "chain.jsonl")),
		control: await readIfReadable(join(jobDir, "control")),
		chainFiles: await readChainFiles(jobDir),
		recordedIds: (await readIds(runDir))
			.filter(({ benchmark }) => benchmark === basename(jobDir))
			.map(({ jobId }) => jobId),
		expected: rolloutsOffset === null ? null : await countLines(inputs),
		rollouts: rollouts?.bytes ?? null,
		rolloutsCut: rollouts?.cut ?? false,
	};
}

/** What a look cannot read, it has not seen: files of another user, or a folder in their place. */
async function readIfReadable(path: string): Promise<string | null> {
	try {
		return await readIfThere(path);
	} catch (error) {
		if (UNREADABLE.includes(String(errorCode(error)))) return null;
		throw error;
	}
}

async function readChainFiles(jobDir: string): Promise<ReadonlyMap<string, string>> {
	const files = new Map<string, string>();
	for (const name of CHAIN_FILES) {
		const text = await readIfReadable(join(jobDir, name));
		if (text !== null) files.set(name, text);
	}
	return files;
}

/** Names in a folder; none when it is not there. */
export async function namesIn(folder: string): Promise<readonly string[]> {
	try {
		return await readdir(folder);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return [];
		throw error;
	}
}

async function countLines(path: string): Promise<number | null> {
	let lines = 0;
	const file = await openIfThere(path);
	if (file === null) return null;
	for await (const chunk of file.createReadStream()) {
		for (const byte of chunk as Buffer) if (byte === 0x0a) lines++;
	}
	return lines;
}
