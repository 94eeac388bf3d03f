/** Updating runs in place: the files that their next jobs read. Nothing of a local job can be changed once it is queued. */
import { dirname } from "node:path";
import type { JobUpdate, UpdateOutcome } from "../scheduler.ts";
import type { LocalContext } from "./context.ts";
import { lockRunDir } from "./run-lock.ts";
import { stageFiles } from "./submission-files.ts";

/** Replaces the files of each directory, once no submitter is at work there. */
export async function update(
	updates: readonly JobUpdate[],
	context: LocalContext,
): Promise<readonly UpdateOutcome[]> {
	for (const { jobDir, files } of updates) {
		const lock = await lockRunDir(dirname(jobDir), context);
		try {
			await stageFiles(jobDir, files);
		} finally {
			await lock.release();
		}
	}
	await context.points.reach("update.written");
	await context.points.reach("update.done");
	return updates.map(({ jobDir }) => ({ jobDir, jobIds: [], error: null }));
}
