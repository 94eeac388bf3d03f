/** Starts real processes running `contender.ts`. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";

export interface Contender {
	readonly pid: number;
	/** Lets it begin. */
	begin(): void;
	/** Its outcome; null when it died without one. */
	outcome(): Promise<string | null>;
	/** Kills it and waits until it is gone. */
	kill(): Promise<void>;
}

/** Bundles the program into `folder`. Returns its path. */
export async function buildContender(folder: string): Promise<string> {
	const outfile = join(folder, "contender.mjs");
	await build({
		entryPoints: [new URL("contender.ts", import.meta.url).pathname],
		bundle: true,
		platform: "node",
		format: "esm",
		outfile,
	});
	return outfile;
}

/** Starts one and waits until it is ready. */
export async function startContender(program: string, ...args: readonly string[]): Promise<Contender> {
	const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	if ((await lines.next()).value !== "ready") throw new Error("contender did not start");
	return {
		pid: child.pid!,
		begin: () => void child.stdin.write("go\n"),
		async outcome() {
			const line = await lines.next();
			return line.done ? null : line.value;
		},
		async kill() {
			child.kill("SIGKILL");
			await gone(child);
		},
	};
}

async function gone(child: ChildProcess): Promise<void> {
	if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
