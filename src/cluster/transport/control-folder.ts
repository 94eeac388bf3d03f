/** The private folder for the socket of our ssh master. */
import { mkdtemp, readdir, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "../../errors.ts";

/** Bytes that ssh needs below the folder: a slash, `%C` (40), and its own suffix while it makes the socket (17). */
const NEEDED = 58;

/** Longest path of a socket, in bytes, on the systems we know (Linux takes 107, macOS 103). */
const SOCKET_LIMIT = 103;

/** Milliseconds after which an empty folder belongs to nobody any more: connecting takes no such time. */
const FORGOTTEN_MS = 3_600_000;

/**
 * Makes a folder that only we can enter and whose path is short and plain enough for a socket of ssh: in
 * TMPDIR, or in /tmp when TMPDIR is too deep.
 * @throws GymError exit `failure`, code `no-socket-folder`
 */
export async function makeControlFolder(tmpdir: string | undefined): Promise<string> {
	const tried: string[] = [];
	for (const parent of new Set([tmpdir ?? "/tmp", "/tmp"])) {
		const prefix = `${parent.replace(/\/+$/, "")}/gym-`;
		// ssh would take blanks, quotes, `%` and `$` in the path for something else.
		if (prefix.length + 6 + NEEDED > SOCKET_LIMIT || !/^\/[\w./-]*$/.test(prefix)) {
			tried.push(`${parent}: path too long or not plain`);
			continue;
		}
		try {
			await removeForgotten(parent);
			return await mkdtemp(prefix);
		} catch (error) {
			tried.push(`${parent}: ${(error as NodeJS.ErrnoException).code}`);
		}
	}
	const message = `no folder for the socket of the ssh connection (${tried.join("; ")})`;
	throw fail("failure", "no-socket-folder", message, "set TMPDIR to a short path that you can write to");
}

/** A killed program leaves its folder, which its ssh master empties later. Only empty ones of ours can go. */
async function removeForgotten(parent: string): Promise<void> {
	const names = await readdir(parent).catch(() => []);
	for (const name of names.filter((one) => /^gym-[A-Za-z0-9]{6}$/.test(one))) {
		const folder = join(parent, name);
		const seen = await stat(folder).catch(() => null);
		const isOld = seen !== null && Date.now() - seen.mtimeMs > FORGOTTEN_MS;
		if (isOld && seen.uid === process.getuid?.()) await rmdir(folder).catch(() => undefined);
	}
}

/** Removes such a folder; never throws. */
export async function removeControlFolder(folder: string): Promise<void> {
	await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}
