/** The ssh sessions of a submit host: who works in them, and how one is cut. */
import { readdir, readFile, readlink } from "node:fs/promises";

/** The first process that has this text among its arguments, and works in or below this folder. */
export async function processWith(text: string, folder: string): Promise<string | undefined> {
	for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
		const args = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
		const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => "");
		if (cwd.startsWith(`${folder}/`) && args.includes(text)) return pid;
	}
	return undefined;
}

/**
 * Ends the sshd process that serves the session of a process.
 * @throws Error when the process is in no session
 */
export async function resetConnection(inside: string): Promise<void> {
	let pid = inside;
	for (;;) {
		const stat = await readFile(`/proc/${pid}/stat`, "utf8");
		const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(stat)!;
		if (name!.startsWith("sshd")) break;
		if (parent === "1") throw new Error(`process ${inside} is in no ssh session`);
		pid = parent!;
	}
	process.kill(Number(pid), "SIGKILL");
}
