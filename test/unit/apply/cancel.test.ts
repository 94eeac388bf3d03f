/** Cancelling: what is still there when we gave up stays known. */
import { expect, test } from "vitest";
import { cancelRuns } from "../../../src/apply/cancel.ts";
import type { Io } from "../../../src/io.ts";
import type { StateDocument } from "../../../state/document.ts";
import { makeDesired, makeRun, makeState } from "../plan/runs.ts";

const desired = makeDesired("b");
const run = (name: string) => makeRun(desired, { runDir: `/evals/${name}`, jobDir: `/evals/${name}/b` });
const cluster = { type: "slurm", name: "lab", hostname: null, outputPath: "/evals" } as const;

/** Cancels `b` where these directories have jobs that do not end. @returns the written state and what was told */
async function cancel(left: readonly string[]) {
	const before: StateDocument = { ...makeState({ b: run("new") }, { b: [run("old")] }), cluster };
	const ids = new Map([
		["/evals/new/b", ["2"]],
		["/evals/old/b", ["1"]],
	]);
	const written: StateDocument[] = [];
	const told: unknown[] = [];
	const lease = {
		read: async () => before,
		write: async (next: StateDocument) => written.push(next),
		release: async () => {},
	};
	const scheduler = {
		observe: async () => ({
			at: 1,
			user: "alice",
			queue: null,
			accounting: null,
			preflight: null,
			runs: new Map(),
		}),
		cancel: async (dirs: readonly string[]) => ({
			at: 2,
			cancelled: new Map(dirs.map((dir) => [dir, ids.get(dir)!])),
			left,
		}),
	};
	const io = { store: { acquire: async () => lease }, scheduler: () => scheduler } as unknown as Io;
	await cancelRuns("math", io, { benchmarks: ["b"], lockTimeout: 0, cancelled: (...all) => told.push(all) });
	const { current, history } = (written[0] ?? before).benchmarks.get("b")!;
	return {
		statuses: [current!.status, ...history.map(({ status }) => status)],
		writes: written.length,
		told,
	};
}

test("a run and the one that it was to replace", async () => {
	expect(await cancel([])).toEqual({
		statuses: ["cancelled", "cancelled"],
		writes: 1,
		told: [["math/b", ["2", "1"], false]],
	});
});

test("a replaced run that does not end is not taken for ended, and nothing new is written", async () => {
	expect(await cancel(["/evals/old/b"])).toEqual({
		statuses: ["running", "running"],
		writes: 0,
		told: [["math/b", ["2", "1"], true]],
	});
});
