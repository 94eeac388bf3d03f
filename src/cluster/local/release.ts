/** Starts the supervisor of a held job. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { fail, type GymError } from "../../errors.ts";
import type { Submission } from "../scheduler.ts";
import type { LocalContext } from "./context.ts";
import { jobEnvironment } from "./environment.ts";
import { type Entry, standing } from "./registry.ts";

const POLL_MS = 20;

/**
 * Releases a job if it is held, and returns when its supervisor has taken it.
 * @throws GymError exit `failure`, code `supervisor-not-started`: the job is still held
 */
export async function release(entry: Entry, submission: Submission, context: LocalContext): Promise<void> {
	const { host } = context;
	if ((await standing(entry, host)).phase !== "held") return;
	const supervisor = start(entry, submission, context);
	const gone = new AbortController();
	supervisor.once("error", () => gone.abort());
	supervisor.once("exit", () => gone.abort());
	supervisor.stdin?.on("error", () => undefined); // its exit tells the story
	supervisor.stdin?.end(JSON.stringify(jobEnvironment(context.env, submission)));
	for (;;) {
		const wasGone = gone.signal.aborted; // before the look: it takes the job before it goes
		if ((await standing(entry, host)).phase !== "held") break;
		if (wasGone) throw notStarted(entry);
		await host.sleep(POLL_MS);
	}
	supervisor.unref();
}

function notStarted({ folder, job }: Entry): GymError {
	return fail(
		"failure",
		"supervisor-not-started",
		`job ${job.id} is held: its supervisor did not start; its words are in ${join(folder, "supervisor.log")}`,
		"run apply again: it releases the job",
	);
}

/** In a session of its own, so that it outlives us. Options for our Node are not meant for it. */
function start({ folder }: Entry, { withheld }: Submission, { env, supervisor }: LocalContext): ChildProcess {
	const own = Object.entries(jobEnvironment(env, { withheld, forward: new Map() })).filter(
		([name]) => !name.startsWith("NODE_"),
	);
	const log = openSync(join(folder, "supervisor.log"), "a", 0o600);
	try {
		return spawn(process.execPath, [supervisor, folder], {
			cwd: "/",
			detached: true,
			env: Object.fromEntries(own),
			stdio: ["pipe", "ignore", log],
		});
	} finally {
		closeSync(log);
	}
}
