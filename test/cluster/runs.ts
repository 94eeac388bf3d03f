/** What the runs of a project left: their end, their folders, their state. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { jobs, waitFor } from "../setup/cluster.ts";
import type { Project } from "./gym.ts";

/** States of jobs that may still do something. */
const LIVE = ["PENDING", "RUNNING", "COMPLETING"];

/** The project's jobs that are queued or running, by benchmark. */
export async function liveJobs(one: Project): Promise<ReadonlyMap<string, readonly string[]>> {
	const found = new Map<string, string[]>();
	for (const job of await jobs(`${one.outputPath}/`)) {
		if (!LIVE.includes(job.state)) continue;
		const benchmark = job.workdir.split("/").at(-1)!;
		found.set(benchmark, [...(found.get(benchmark) ?? []), String(job.id)]);
	}
	return found;
}

/** Waits until no job of the project is queued or running. */
export async function settled(one: Project): Promise<void> {
	await waitFor(async () => (await liveJobs(one)).size === 0, "all jobs to end", { timeoutMs: 120_000 });
}

/** The project's run directories, oldest first. */
export async function runDirs(one: Project): Promise<readonly string[]> {
	const names = await readdir(one.outputPath);
	return names
		.filter((name) => name.startsWith("gym-job-"))
		.sort()
		.map((name) => join(one.outputPath, name));
}

/** Every plain file below a folder, by full path. */
export async function filesBelow(folder: string): Promise<readonly string[]> {
	const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
	return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
