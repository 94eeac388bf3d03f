/**
 * Queueing the successor of a running job, as its script asks for it: `sbatch` of this machine. The successor's entry
 * is made by its own supervisor, which has taken it by then, so there is no moment at which a crash leaves half of one.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Host } from "../../../state/host.ts";
import { fail } from "../../errors.ts";
import { readIfThere } from "./atomic-files.ts";
import { type Environment, jobEnvironment, supervisorEnvironment } from "./environment.ts";
import { type Entry, isLive, readEntries, readEntry, standing } from "./registry.ts";
import { startSupervisor } from "./start-supervisor.ts";

/**
 * Queues the successor of a job, or finds the one that is queued.
 * @param folder the running job's entry
 * @param env environment of its script, which becomes the successor's
 * @param supervisor path of the supervisor program
 * @returns the successor's id
 * @throws GymError exit `failure`, code `successor-not-queued`
 */
export async function queueNext(
	folder: string,
	env: Environment,
	supervisor: string,
	host: Host,
): Promise<number> {
	const entry = await readEntry(folder);
	const queued = await findNext(entry, host);
	if (queued !== null) return queued;
	const temp = join(entry.job.jobDir, `.entry.${host.newId()}`);
	await mkdir(temp, { mode: 0o755 });
	const log = join(temp, "supervisor.log");
	const start = {
		words: [supervisor, "follow", folder, temp] as const,
		env: supervisorEnvironment(env, [], folder),
		jobEnv: jobEnvironment(env, { withheld: [], forward: new Map() }),
		log,
	};
	try {
		const next = await startSupervisor(start, host, () => findNext(entry, host));
		if (next !== null) return next;
		const words = ((await readIfThere(log)) ?? "").trim();
		throw fail(
			"failure",
			"successor-not-queued",
			`job ${entry.job.id} got no successor: ${words || "its supervisor ended at once; perhaps the job is being cancelled"}`,
			"run apply when the job has ended",
		);
	} finally {
		await rm(temp, { recursive: true, force: true });
	}
}

async function findNext({ folder, job }: Entry, host: Host): Promise<number | null> {
	const later = (await readEntries(join(folder, "..", ".."))).filter((entry) => entry.job.id > job.id);
	for (const entry of later) {
		if (!entry.job.dependent || entry.job.previous !== job.id) continue;
		if (isLive(await standing(entry, host))) return entry.job.id;
	}
	return null;
}
