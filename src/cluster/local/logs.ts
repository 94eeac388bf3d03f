/** Pieces of a run's log files, from given offsets or their last lines. */
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { LOG_LIMIT, type LogChunk } from "../scheduler.ts";
import { errorCode } from "./atomic-files.ts";

/** Reads what is new; a file that is not named starts `tail` lines before its end. */
export async function readLogs(
	jobDir: string,
	offsets: ReadonlyMap<string, number>,
	tail: number,
): Promise<readonly LogChunk[]> {
	const folder = join(jobDir, "logs");
	const chunks: LogChunk[] = [];
	for (const file of await filesIn(folder)) {
		const chunk = await readLog(join(folder, file), offsets.get(file) ?? null, tail);
		if (chunk) chunks.push({ file, ...chunk });
	}
	return chunks;
}

async function filesIn(folder: string): Promise<readonly string[]> {
	try {
		const entries = await readdir(folder, { withFileTypes: true });
		return entries
			.filter((entry) => entry.isFile())
			.map((entry) => entry.name)
			.sort();
	} catch (error) {
		if (errorCode(error) === "ENOENT") return [];
		throw error;
	}
}

async function readLog(
	path: string,
	offset: number | null,
	tail: number,
): Promise<Omit<LogChunk, "file"> | null> {
	const file = await open(path);
	try {
		const { size } = await file.stat();
		if (offset !== null && offset >= size) return null;
		const from = offset ?? Math.max(0, size - LOG_LIMIT);
		const length = Math.min(LOG_LIMIT, size - from);
		const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
		const text = buffer.subarray(0, bytesRead).toString("utf8");
		return { size: from + bytesRead, text: offset === null ? lastLines(text, tail) : text };
	} finally {
		await file.close();
	}
}

/** The last lines of a text; one without a line break at its end counts too. */
function lastLines(text: string, count: number): string {
	const lines = text.split(/(?<=\n)/);
	return lines.slice(Math.max(0, lines.length - count)).join("");
}
