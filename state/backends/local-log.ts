/** A numbered log as files `<kind>.<number>.json` in one folder of this machine. */
import { randomUUID } from "node:crypto";
import { link, lstat, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KEPT, type NumberedLog } from "../numbered-log.ts";
import { unreadable, unwritable } from "../problems.ts";

/** The log `kind` in `folder`, whose parent is the state directory; both are made by the first write. */
export function localLog(folder: string, kind: "state" | "lock"): NumberedLog {
	const where = (number: number) => join(folder, `${kind}.${number}.json`);
	const numbers = async () => {
		const names = await listFolder(folder);
		return names.flatMap((name) => numberOf(name, kind) ?? []).sort((a, b) => b - a);
	};
	return {
		where,
		numbers,
		async read(number) {
			try {
				return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(where(number)));
			} catch (cause) {
				const code = errorCode(cause);
				if (code === "ENOENT" || code === "ESTALE") return null;
				const reason = code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "not UTF-8 text" : reasonOf(cause);
				throw unreadable("state-unreadable", where(number), [reason], cause);
			}
		},
		async append(number, text, staged) {
			await orUnwritable(folder, () => makeFolder(folder));
			const first = await throughTemp(where(number), text, async (temp) => {
				await staged?.();
				return orUnwritable(where(number), () => linkExclusively(temp, where(number)));
			});
			if (!first) return false;
			await orUnwritable(folder, () => syncFolder(folder));
			const [newest] = await numbers();
			if (newest !== number) return false;
			await prune(folder, kind, newest);
			return true;
		},
		replace: (number, text) =>
			throughTemp(where(number), text, (temp) =>
				orUnwritable(where(number), () => rename(temp, where(number))),
			),
	};
}

/** How often a folder that is neither there nor surely absent is looked at: somebody may be making it. */
const LOOKS = 5;

/**
 * Names in a folder; none only when it surely is not there, so a link to a missing place or a parent that
 * cannot be read is an error.
 * @throws GymError code `state-unreadable`
 */
export async function listFolder(folder: string): Promise<readonly string[]> {
	for (let look = 1; ; look++) {
		try {
			return await readdir(folder);
		} catch (cause) {
			const missing = errorCode(cause) === "ENOENT";
			if (missing && (await isAbsent(folder))) return [];
			if (!missing || look === LOOKS) throw unreadable("state-unreadable", folder, [reasonOf(cause)], cause);
		}
	}
}

/** Whether there is no such name, not even as a link, in a folder that is there (or is itself absent). */
async function isAbsent(path: string): Promise<boolean> {
	try {
		await lstat(path);
		return false;
	} catch (cause) {
		if (errorCode(cause) !== "ENOENT") return false;
	}
	const parent = dirname(path);
	return (await isThere(parent)) || (parent !== path && (await isAbsent(parent)));
}

async function isThere(path: string): Promise<boolean> {
	return stat(path).then(
		() => true,
		() => false,
	);
}

/** The folder and the state directory above it, for their owner only and not for git. */
async function makeFolder(folder: string): Promise<void> {
	if (await isThere(folder)) return;
	const directory = dirname(folder);
	await mkdir(directory, { recursive: true, mode: 0o700 });
	await writeFile(join(directory, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 }).catch((cause) => {
		if (errorCode(cause) !== "EEXIST") throw cause;
	});
	await syncFolder(dirname(directory));
	await mkdir(folder, { recursive: true, mode: 0o700 });
	await syncFolder(directory);
}

/** Makes a durable file beside `path` for `use`, and removes that name again; what a crash leaves, `prune` drops. */
async function throughTemp<Result>(
	path: string,
	text: string,
	use: (temp: string) => Promise<Result>,
): Promise<Result> {
	const temp = `${path}.${randomUUID()}.tmp`;
	try {
		await orUnwritable(path, () => writeDurably(temp, text));
		return await use(temp);
	} finally {
		await rm(temp, { force: true }).catch(() => undefined);
	}
}

async function writeDurably(path: string, text: string): Promise<void> {
	const file = await open(path, "wx", 0o600);
	try {
		await file.writeFile(text);
		await file.sync();
	} finally {
		await file.close();
	}
}

/**
 * Gives `temp` its second name unless that is taken. A network file system may answer "taken" to its own
 * repetition; a temp that is gone was dropped as too old while this process slept.
 */
async function linkExclusively(temp: string, path: string): Promise<boolean> {
	try {
		await link(temp, path);
		return true;
	} catch (cause) {
		if (errorCode(cause) === "ENOENT") return false;
		if (errorCode(cause) !== "EEXIST") throw cause;
		return (await stat(temp)).nlink === 2;
	}
}

async function syncFolder(path: string): Promise<void> {
	const folder = await open(path, "r");
	try {
		await folder.sync();
	} finally {
		await folder.close();
	}
}

/** Drops what is too old, what a crash left of it too. What cannot be dropped now is dropped next time. */
async function prune(folder: string, kind: string, newest: number): Promise<void> {
	for (const name of await listFolder(folder)) {
		const number = numberOf(name.replace(/\.[0-9a-f-]{36}\.tmp$/, ""), kind);
		if (number !== null && number <= newest - KEPT) {
			await rm(join(folder, name), { force: true }).catch(() => undefined);
		}
	}
}

function numberOf(name: string, kind: string): number | null {
	const match = /^([a-z]+)\.([1-9][0-9]{0,14})\.json$/.exec(name);
	return match?.[1] === kind ? Number(match[2]) : null;
}

async function orUnwritable<Result>(where: string, action: () => Promise<Result>): Promise<Result> {
	try {
		return await action();
	} catch (cause) {
		throw unwritable(where, reasonOf(cause), cause);
	}
}

function errorCode(cause: unknown): string | null {
	const code = cause instanceof Error && "code" in cause ? cause.code : null;
	return typeof code === "string" ? code : null;
}

/** `ENOSPC: no space left on device`: the system's own words, without the call and path that follow. */
function reasonOf(cause: unknown): string {
	const message = cause instanceof Error ? cause.message : String(cause);
	return message.split(",", 1)[0] ?? message;
}
