/** The ssh sessions of a submit host: who works in them, and how one is cut. */
import { access, readdir, readFile, readlink } from "node:fs/promises";
import { waitFor } from "../setup/cluster.ts";

/** The first process that has this text among its arguments, and works in or below this folder, or on a file there. */
export async function processWith(text: string, folder: string): Promise<string | undefined> {
	const linked = (path: string) => readlink(path).catch(() => "");
	for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
		const args = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
		if (!args.includes(text)) continue;
		const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
		const paths = await Promise.all(
			["cwd", ...files.map((fd) => `fd/${fd}`)].map((at) => linked(`/proc/${pid}/${at}`)),
		);
		if (paths.some((path) => path.startsWith(`${folder}/`))) return pid;
	}
	return undefined;
}

/**
 * Ends the sshd process that serves the session of a process.
 * @returns pid of the session's program, which may go on
 * @throws Error when the process is in no session
 */
export async function resetConnection(inside: string): Promise<string> {
	let [pid, program] = [inside, inside];
	for (;;) {
		const stat = await readFile(`/proc/${pid}/stat`, "utf8");
		const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(stat)!;
		if (name!.startsWith("sshd")) break;
		if (parent === "1") throw new Error(`process ${inside} is in no ssh session`);
		[pid, program] = [parent!, pid];
	}
	process.kill(Number(pid), "SIGKILL");
	return program;
}

/** Waits until a process has ended. */
export async function ended(pid: string): Promise<void> {
	const isGone = () =>
		access(`/proc/${pid}`).then(
			() => false,
			() => true,
		);
	await waitFor(isGone, `process ${pid} to end`);
}
