/** Results are told from all rollouts, however many exchanges that takes. */
import { expect, test } from "vitest";
import { observeState } from "../../../src/apply/observe.ts";
import { NO_PROGRESS } from "../../../src/chain/progress.ts";
import type { Observation, RunQuery, Scheduler } from "../../../src/cluster/scheduler.ts";
import { makeDesired, makeRun, makeState } from "../plan/runs.ts";

/** Rewards 1 and 0, a row each. */
const ROLLOUTS = new TextEncoder().encode('{"reward":1}\n'.repeat(6) + '{"reward":0}\n'.repeat(14));

/** A cluster where a run's file is carried in pieces of `limit` bytes. */
function cluster(limit: number, end: string | null) {
	const asked: (readonly RunQuery[])[] = [];
	const observe = async (queries: readonly RunQuery[]): Promise<Observation> => {
		asked.push(queries);
		const files = (offset: number | null) => ({
			exists: true,
			ends: new Map(end === null ? [] : [["7", end]]),
			chain: null,
			control: null,
			chainFiles: new Map(),
			recordedIds: ["7"],
			expected: offset === null ? null : 20,
			rollouts: offset === null ? null : ROLLOUTS.subarray(offset, offset + limit),
			rolloutsCut: offset !== null && offset + limit < ROLLOUTS.length,
		});
		const row = { jobId: "7", state: "RUNNING", workDir: queries[0]!.jobDir, user: "alice" };
		return {
			at: 5,
			user: "alice",
			queue: end === null ? ([row] as never) : [],
			accounting: null,
			preflight: null,
			runs: new Map(queries.map((query) => [query.jobDir, files(query.rolloutsOffset)])),
		};
	};
	return { asked, scheduler: { observe } as unknown as Scheduler };
}

const running = makeState({ b: makeRun(makeDesired("b"), { segments: [] }) });
const FINISHED = "exit=0 why=finished at=4 name=\n";

test("a run that is over is read to its end", async () => {
	const { scheduler, asked } = cluster(50, FINISHED);
	const { state } = await observeState(running, scheduler, null);
	const { status, progress } = state.benchmarks.get("b")!.current!;
	expect({ status, ...progress }).toMatchObject({
		status: "succeeded",
		done: 20,
		rewardSum: 6,
		rewardCount: 20,
		offset: ROLLOUTS.length,
	});
	expect(asked.length).toBeGreaterThan(2);
});

test("a row that no exchange can carry does not keep it for ever", async () => {
	const { scheduler, asked } = cluster(5, FINISHED);
	const { state } = await observeState(running, scheduler, null);
	expect(state.benchmarks.get("b")!.current!.progress).toMatchObject({ done: 0, offset: 0 });
	expect(asked).toHaveLength(2);
});

test("of a live run the next look brings more", async () => {
	const { scheduler, asked } = cluster(50, null);
	const { state } = await observeState(running, scheduler, null);
	expect(state.benchmarks.get("b")!.current!.progress).toMatchObject({ done: 3 });
	expect(asked).toHaveLength(1);
});

test("a look that leaves the rollouts out keeps the progress that was known", async () => {
	const { scheduler, asked } = cluster(50, FINISHED);
	const progress = { ...NO_PROGRESS, done: 3, expected: 20, offset: 39 };
	const known = makeState({ b: makeRun(makeDesired("b"), { segments: [], progress }) });
	const { state } = await observeState(known, scheduler, null, false);
	expect(state.benchmarks.get("b")!.current).toMatchObject({ status: "succeeded", progress });
	expect(asked).toMatchObject([[{ rolloutsOffset: null }]]);
});
