/** Starts the supervisor of a held job. */
import { join } from "node:path";
import { fail, type GymError } from "../../errors.ts";
import type { Submission } from "../scheduler.ts";
import type { LocalContext } from "./context.ts";
import { jobEnvironment, supervisorEnvironment } from "./environment.ts";
import { type Entry, standing } from "./registry.ts";
import { startSupervisor } from "./start-supervisor.ts";

/**
 * Releases a job if it is held, and returns when its supervisor has taken it.
 * @throws GymError exit `failure`, code `supervisor-not-started`: the job is still held
 */
export async function release(entry: Entry, submission: Submission, context: LocalContext): Promise<void> {
	const { host, env, supervisor } = context;
	const taken = async () => ((await standing(entry, host)).phase === "held" ? null : true);
	if (await taken()) return;
	const start = {
		words: [supervisor, "run", entry.folder] as const,
		env: supervisorEnvironment(env, submission.withheld, entry.folder),
		jobEnv: jobEnvironment(env, submission),
		log: join(entry.folder, "supervisor.log"),
	};
	if (!(await startSupervisor(start, host, taken))) throw notStarted(entry);
}

function notStarted({ folder, job }: Entry): GymError {
	return fail(
		"failure",
		"supervisor-not-started",
		`job ${job.id} is held: its supervisor did not start; its words are in ${join(folder, "supervisor.log")}`,
		"run apply again: it releases the job",
	);
}
