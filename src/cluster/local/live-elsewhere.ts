/** Runs that somebody else's submission of the same stack was first with. */
import { basename, dirname, join } from "node:path";
import { stackMark } from "../job-record.ts";
import type { Submission } from "../scheduler.ts";
import { readIfThere } from "./atomic-files.ts";
import type { LocalContext } from "./context.ts";
import { type Entry, standing } from "./registry.ts";

/** Benchmark → why it is not submitted: a run of it is live in a directory that the state does not know. */
export async function liveElsewhere(
	submission: Submission,
	entries: readonly Entry[],
	{ host }: LocalContext,
): Promise<ReadonlyMap<string, string>> {
	const { stack, runDir, knownDirs, benchmarks } = submission;
	const found = new Map<string, string>();
	for (const entry of entries) {
		const { id, jobDir, user } = entry.job;
		const [benchmark, run] = [basename(jobDir), dirname(jobDir)];
		const isOther = run !== runDir && !knownDirs.includes(jobDir);
		if (!isOther || user !== host.user || !benchmarks.includes(benchmark)) continue;
		const { phase } = await standing(entry, host);
		if (phase === "ended" || phase === "gone") continue;
		if (!(await readIfThere(join(run, "gym-job.json")))?.includes(stackMark(stack))) continue;
		const words = `another run of ${stack}/${benchmark} is live: ${jobDir}, job ${id}`;
		found.set(benchmark, `${words}; plan again: it will be shown as = (adopt)`);
	}
	return found;
}
