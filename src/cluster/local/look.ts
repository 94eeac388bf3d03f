/** One look at the registry and the run directories. Changes nothing. */
import { access, constants, open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Observation, PreflightQuery, PreflightResult, RunFiles, RunQuery } from "../scheduler.ts";
import { ROLLOUTS_LIMIT } from "../slurm/observe-script.ts";
import { errorCode, readIfThere } from "./atomic-files.ts";
import type { LocalContext } from "./context.ts";
import { epochSeconds, readEntries, registryOf, standing } from "./registry.ts";
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
	const limit = Math.floor(ROLLOUTS_LIMIT / Math.max(1, queries.length));
	const runs = new Map<string, RunFiles>();
	for (const query of queries) runs.set(query.jobDir, await runFiles(query, limit));
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

async function runFiles({ jobDir, runDir, rolloutsOffset }: RunQuery, limit: number): Promise<RunFiles> {
	const ends = new Map<string, string>();
	for (const name of await namesIn(join(jobDir, "ends"))) {
		const text = /\d$/.test(name) ? await readIfThere(join(jobDir, "ends", name)) : null;
		if (text !== null) ends.set(name, text);
	}
	const artifact = (name: string) => join(jobDir, "artifacts", name);
	const isRead = rolloutsOffset !== null;
	const chunk = isRead ? await readBytes(artifact("rollouts.jsonl"), rolloutsOffset, limit) : null;
	return {
		exists: (await missingPaths([jobDir])).length === 0,
		ends,
		chain: await readIfThere(join(jobDir, "chain.jsonl")),
		control: await readIfThere(join(jobDir, "control")),
		recordedIds: (await readIds(runDir))
			.filter(({ benchmark }) => benchmark === basename(jobDir))
			.map(({ jobId }) => jobId),
		expected: isRead ? await countLines(artifact("rollouts_materialized_inputs.jsonl")) : null,
		rollouts: chunk?.bytes ?? null,
		rolloutsCut: chunk?.cut ?? false,
	};
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

/** At most `limit` bytes from `offset` on, and whether the file goes on behind them; null when there is no such file. */
async function readBytes(
	path: string,
	offset: number,
	limit: number,
): Promise<{ readonly bytes: Uint8Array; readonly cut: boolean } | null> {
	const file = await openIfThere(path);
	if (file === null) return null;
	try {
		const left = Math.max(0, (await file.stat()).size - offset);
		const size = Math.min(limit, left);
		const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, offset);
		return { bytes: buffer.subarray(0, bytesRead), cut: left > size };
	} finally {
		await file.close();
	}
}

async function openIfThere(path: string) {
	try {
		return await open(path);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return null;
		throw error;
	}
}
