/** The stop mark of a cancelled chain: a line of the file `control` of a benchmark's directory. */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, readIfThere } from "./atomic-files.ts";

/** Makes the mark; nothing where there is no such directory, and so no job in it. */
export async function markStopped(jobDir: string): Promise<void> {
	try {
		await appendFile(join(jobDir, "control"), "stop\n", { mode: 0o600 });
	} catch (error) {
		if (errorCode(error) !== "ENOENT") throw error;
	}
}

/** Is there a mark? */
export async function isStopped(jobDir: string): Promise<boolean> {
	return ((await readIfThere(join(jobDir, "control"))) ?? "").split("\n").includes("stop");
}
