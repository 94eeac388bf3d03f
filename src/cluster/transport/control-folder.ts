/** The private folder for the socket of our ssh master. */
import { mkdtemp, rm } from "node:fs/promises";
import { fail } from "../../errors.ts";

/** Bytes that ssh needs below the folder: a slash, `%C` (40), and its own suffix while it makes the socket (17). */
const NEEDED = 58;

/** Longest path of a socket, in bytes, on the systems we know (Linux takes 107, macOS 103). */
const SOCKET_LIMIT = 103;

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
			return await mkdtemp(prefix);
		} catch (error) {
			tried.push(`${parent}: ${(error as NodeJS.ErrnoException).code}`);
		}
	}
	const message = `no folder for the socket of the ssh connection (${tried.join("; ")})`;
	throw fail("failure", "no-socket-folder", message, "set TMPDIR to a short path that you can write to");
}

/** Removes such a folder; never throws. */
export async function removeControlFolder(folder: string): Promise<void> {
	await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}
