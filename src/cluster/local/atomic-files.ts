/** Files that appear whole or not at all. */
import { randomUUID } from "node:crypto";
import { chmod, link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** The code of a system error, e.g. `ENOENT`. */
export function errorCode(error: unknown): unknown {
	return error instanceof Error && "code" in error ? error.code : undefined;
}

/** The text of a file; null when there is none. */
export async function readIfThere(path: string): Promise<string | null> {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		if (errorCode(error) === "ENOENT") return null;
		throw error;
	}
}

/** Makes a folder and its parents, never writable for the group. */
export async function makeFolder(path: string): Promise<void> {
	await mkdir(path, { recursive: true, mode: 0o755 });
}

/** Puts a file in place of what was there; nobody else can read it before it has its mode. */
export async function putFile(path: string, text: string, mode: number): Promise<void> {
	await makeFolder(dirname(path));
	const temp = `${path}.new`;
	await rm(temp, { force: true });
	await writeFile(temp, text, { mode: 0o600, flag: "wx" });
	await chmod(temp, mode);
	await rename(temp, path);
}

/** Makes a file that is not there yet. Returns false when it is, whoever made it and however late. */
export async function createExclusively(path: string, text: string): Promise<boolean> {
	const temp = `${path}.${randomUUID()}`;
	await writeFile(temp, text, { mode: 0o644, flag: "wx" });
	try {
		await link(temp, path);
		return true;
	} catch (error) {
		if (errorCode(error) === "EEXIST") return false;
		throw error;
	} finally {
		await rm(temp, { force: true });
	}
}
