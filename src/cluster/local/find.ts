/** Submissions by their records, newest first. Changes nothing. */
import { join } from "node:path";
import { stackMark } from "../job-record.ts";
import type { FindQuery, FoundSubmission } from "../scheduler.ts";
import { readIfThere } from "./atomic-files.ts";
import type { LocalContext } from "./context.ts";
import { namesIn } from "./look.ts";
import { awaitStack } from "./run-lock.ts";

/** Reads the records and keeps those that are asked for, once no submitter of their stack is at work. */
export async function findSubmissions(
	where: FindQuery,
	context: LocalContext,
): Promise<readonly FoundSubmission[]> {
	if ("runDir" in where) return read(where.runDir, "");
	const { stack, outputPath } = where;
	await awaitStack(stack, context);
	const runs = (await namesIn(outputPath))
		.filter((name) => name.startsWith("gym-job-"))
		.sort()
		.reverse();
	const found: FoundSubmission[] = [];
	for (const run of runs) found.push(...(await read(join(outputPath, run), stackMark(stack))));
	return found;
}

async function read(runDir: string, mark: string): Promise<readonly FoundSubmission[]> {
	const text = (name: string) => readIfThere(join(runDir, name));
	const record = await text("gym-job.json");
	if (!record?.includes(mark)) return [];
	return [{ record, document: await text("resolved-config.yaml"), ids: (await text("submit.ids")) ?? "" }];
}
