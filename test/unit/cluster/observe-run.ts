/** Runs the observe exchange's script against stand-ins for Slurm's programs, and makes what it is asked. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Observation, PreflightQuery, RunQuery } from "../../../src/cluster/scheduler.ts";
import { type FakeSlurm, schedulerOn } from "./fake-slurm.ts";

/** What the scheduler makes of a look. `before` is bash text that the same shell runs first. */
export function look(
	slurm: FakeSlurm,
	queries: readonly RunQuery[],
	preflight: PreflightQuery | null = null,
	before = "",
): Promise<Observation> {
	return schedulerOn(slurm, before).observe(queries, preflight);
}

/** A question about job 1 of a benchmark, rollouts left out. */
export function queryFor(runDir: string, benchmark: string, more: Partial<RunQuery> = {}): RunQuery {
	return { jobDir: `${runDir}/${benchmark}`, runDir, jobIds: ["1"], rolloutsOffset: null, ...more };
}

/** Writes a file, with its folders. */
export async function write(path: string, text: string | Buffer): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, text);
}
