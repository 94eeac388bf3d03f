/** The submissions of one stack below the output path, newest first. Changes nothing. */
import { join } from "node:path";
import type { FoundSubmission } from "../scheduler.ts";
import { readIfThere } from "./atomic-files.ts";
import { namesIn } from "./look.ts";

/** Reads the record of every run directory and keeps those of the stack. */
export async function findSubmissions(
	outputPath: string,
	stack: string,
): Promise<readonly FoundSubmission[]> {
	const mark = `"gymfile_stack": ${JSON.stringify(stack)}`;
	const found: FoundSubmission[] = [];
	const runs = (await namesIn(outputPath)).filter((name) => name.startsWith("gym-job-")).sort();
	for (const run of runs.reverse()) {
		const text = (name: string) => readIfThere(join(outputPath, run, name));
		const record = await text("gym-job.json");
		if (!record?.includes(mark)) continue;
		found.push({
			record,
			document: await text("resolved-config.yaml"),
			ids: (await text("submit.ids")) ?? "",
		});
	}
	return found;
}
