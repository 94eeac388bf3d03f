/** Starts supervisors: in sessions of their own, so that they outlive us. */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Host } from "../../../state/host.ts";
import type { Environment } from "./environment.ts";

const POLL_MS = 20;

/** One start. */
export interface SupervisorStart {
	/** Path of the supervisor program, then its arguments. */
	readonly words: readonly [string, ...string[]];
	/** Of its own process. */
	readonly env: Environment;
	/** Of the job's script; goes over its stdin. */
	readonly jobEnv: Environment;
	/** File that gets what it has to say. */
	readonly log: string;
}

/** Starts a supervisor, and returns when `look` finds what it has made; null when it went before. */
export async function startSupervisor<Found>(
	{ words, env, jobEnv, log }: SupervisorStart,
	host: Host,
	look: () => Promise<Found | null>,
): Promise<Found | null> {
	const file = openSync(log, "a", 0o600);
	const supervisor = spawn(process.execPath, words, {
		cwd: "/",
		detached: true,
		env,
		stdio: ["pipe", "ignore", file],
	});
	closeSync(file);
	const gone = new AbortController();
	supervisor.once("error", () => gone.abort());
	supervisor.once("exit", () => gone.abort());
	supervisor.stdin?.on("error", () => undefined); // its exit tells the story
	supervisor.stdin?.end(JSON.stringify(jobEnv));
	for (;;) {
		const wasGone = gone.signal.aborted; // before the look: it makes it before it goes
		const found = await look();
		if (found !== null) {
			supervisor.unref();
			return found;
		}
		if (wasGone) return null;
		await host.sleep(POLL_MS);
	}
}
