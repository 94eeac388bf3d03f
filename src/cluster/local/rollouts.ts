/** The rollouts of local runs, as many as one look carries. */
import { type FileHandle, open } from "node:fs/promises";
import { ROLLOUTS_LIMIT } from "../scheduler.ts";
import { errorCode } from "./atomic-files.ts";

const NEWLINE = 10;

/** New bytes of one file. */
export interface Rollouts {
	readonly bytes: Uint8Array;
	/** Does the file go on behind them? */
	readonly cut: boolean;
}

/**
 * What is new in some files, from their offsets on; a file that is not there has no entry. Those with the least to
 * read come first, so that what they leave of the budget goes to the others; and a row that is longer than its file's
 * share is read whole where the budget has room, because half a row would be read again with each look.
 */
export async function readRollouts(
	offsets: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, Rollouts>> {
	const sizes = new Map<string, number>();
	for (const [path, offset] of offsets) {
		const size = await withFile(path, async (file) => (await file.stat()).size);
		if (size !== null) sizes.set(path, Math.max(0, size - offset));
	}
	const found = new Map<string, Rollouts>();
	let left = ROLLOUTS_LIMIT;
	for (const [path, size] of [...sizes].sort(([, a], [, b]) => a - b)) {
		const share = Math.floor(left / (sizes.size - found.size));
		const bytes = await withFile(path, (file) => readNew(file, offsets.get(path)!, size, share, left));
		if (bytes === null) continue;
		found.set(path, { bytes, cut: bytes.length < size });
		left -= bytes.length;
	}
	return found;
}

/** Of `size` bytes those of the share, or the first row where it is longer and `left` allows it. */
async function readNew(
	file: FileHandle,
	offset: number,
	size: number,
	share: number,
	left: number,
): Promise<Uint8Array> {
	const bytes = await readAt(file, offset, Math.min(size, share));
	if (bytes.length === size || bytes.includes(NEWLINE)) return bytes;
	const more = await readAt(file, offset, Math.min(size, left));
	const end = more.indexOf(NEWLINE) + 1;
	return end === 0 ? more : more.subarray(0, end);
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
	const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
	return buffer.subarray(0, bytesRead);
}

/** What `use` makes of a file; null when there is no such file. */
async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T | null> {
	const file = await openIfThere(path);
	if (file === null) return null;
	try {
		return await use(file);
	} finally {
		await file.close();
	}
}

/** A file for reading; null when it is not there. */
export async function openIfThere(path: string): Promise<FileHandle | null> {
	try {
		return await open(path);
	} catch (error) {
		if (errorCode(error) === "ENOENT") return null;
		throw error;
	}
}
