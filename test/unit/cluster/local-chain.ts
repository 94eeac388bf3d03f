/** Scripts of jobs that queue their successors, and looks at such jobs. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { QueueRow } from "../../../src/cluster/jobs.ts";
import { type LocalWorld, localWorld, type Programs, waitFor } from "./local-world.ts";

/** Queues the successor; its id is in `next-<id>`. */
export const QUEUE = `"$GYM_LOCAL_NODE" "$GYM_LOCAL_SUPERVISOR" next "$GYM_LOCAL_JOB" 2>>logs/queue.err >next || echo none >next
mv next "next-$SLURM_JOB_ID"
`;

/** Runs until it gets TERM or there is a file \`go\`. */
export const WAITS = `trap 'exit 143' TERM
echo $$ >"pid-$SLURM_JOB_ID"
until [[ -e go ]]; do sleep 0.05 & wait $!; done
`;

/** Writes who runs, and the previous job. */
export const SEGMENTS = `echo "$SLURM_JOB_ID \${1-first}" >>segments\n`;

/** The rows of a world's jobs, lowest id first. */
export async function rows(world: LocalWorld): Promise<readonly QueueRow[]> {
	return (await world.scheduler.observe([], null)).queue!;
}

/** States of a world's jobs, lowest id first. */
export const states = async (world: LocalWorld) => (await rows(world)).map(({ state }) => state);

/** Waits until the jobs are in these states. */
export function untilStates(world: LocalWorld, expected: readonly string[]): Promise<void> {
	return waitFor(async () => expect(await states(world)).toEqual(expected));
}

/** The entry of a job. */
export const jobFolder = (world: LocalWorld, id: number) =>
	join(world.outputPath, ".gym-local/jobs", String(id));

/** Text of a folder's file; empty when there is none. */
export const textIn = (...path: readonly string[]) => readFile(join(...path), "utf8").catch(() => "");

/** Starts the only benchmark, `math`, and waits until its first segment has queued the second. */
export async function begin(
	programs: Programs,
	script: string,
	more: Parameters<LocalWorld["submission"]>[2] = {},
) {
	const world = await localWorld(programs);
	await world.scheduler.submit(world.submission("run", { math: script }, more));
	expect(await world.text("run/math/next-1")).toBe("2\n");
	return { world, jobDir: `${world.outputPath}/run/math` };
}

/** Signals the supervisor of a job. */
export async function killSupervisor(
	world: LocalWorld,
	id: number,
	signal: NodeJS.Signals = "SIGKILL",
): Promise<void> {
	const owner = await readFile(join(jobFolder(world, id), "supervisor.json"), "utf8");
	process.kill((JSON.parse(owner) as { pid: number }).pid, signal);
}
