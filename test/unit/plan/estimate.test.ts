import { expect, test } from "vitest";
import { decide } from "../../../src/plan/decide.ts";
import { elapsedOf, estimate } from "../../../src/plan/estimate.ts";
import type { Desired, JobSize } from "../../../src/plan/plan.ts";
import type { StateDocument } from "../../../state/document.ts";
import { makeDesired, makeRun, makeSegment, makeState } from "./runs.ts";

const SIZE: JobSize = { nodes: 2, gpusPerNode: 8, walltime: 3600, partition: "batch" };
const sized = (more: Partial<JobSize>, name = "gsm8k") => makeDesired(name, { size: { ...SIZE, ...more } });

function estimateAll(desired: readonly Desired[], state: StateDocument | null = null) {
	return estimate(decide(desired, state, { stack: "math", replace: ["math/gsm8k"], user: null }), state);
}

test("the bound is nodes × GPUs × walltime, over all jobs", () => {
	expect(estimateAll([sized({}), sized({ nodes: 1 }, "aime")])).toMatchObject({
		jobs: 2,
		nodes: 3,
		atMost: 24,
		expected: null,
	});
});

test("without a walltime, or a resumable chain without a cap, there is no bound", () => {
	expect(estimateAll([sized({ walltime: null })]).atMost).toBeNull();
	expect(estimateAll([sized({ chainCap: null }), sized({}, "aime")]).atMost).toBeNull();
});

test("a chain can use its cap and the walltime of the job that reaches it", () => {
	expect(estimateAll([sized({ chainCap: 7200 })]).atMost).toBe(48);
});

test("jobs whose GPUs are not known are counted apart", () => {
	expect(estimateAll([sized({ gpusPerNode: null }), sized({}, "aime")])).toMatchObject({
		jobs: 2,
		uncounted: 1,
		atMost: 16,
	});
});

test("what is expected comes from runs that succeeded", () => {
	const ended = (elapsed: number | null, status: "succeeded" | "failed" = "succeeded") =>
		makeRun(sized({}), { status, segments: [makeSegment("1", { elapsed })] });
	const state = makeState(
		{ gsm8k: ended(1800) },
		{ gsm8k: [ended(900), ended(9000, "failed"), ended(null)] },
	);
	expect(estimateAll([sized({})], state).expected).toEqual({ gpuHours: 6, runs: 2 });
	expect(estimateAll([sized({}), sized({}, "aime")], state).expected).toBeNull();
});

test("actions that queue nothing cost nothing", () => {
	const state = makeState({ aime: makeRun(sized({}, "aime"), { status: "running" }) });
	expect(estimateAll([sized({}, "aime")], state)).toMatchObject({ jobs: 0, nodes: 0, atMost: 0 });
});

test("a refused action queues nothing", () => {
	const state = makeState({ gsm8k: makeRun(sized({}), { status: "running" }) });
	expect(estimateAll([sized({})], state).jobs).toBe(0);
});

test("elapsed is known when that of every segment that began is", () => {
	const run = (...elapsed: (number | null)[]) =>
		makeRun(sized({}), {
			segments: elapsed.map((seconds, i) => makeSegment(String(i), { startedAt: 1, elapsed: seconds })),
		});
	expect(elapsedOf(run(10, 20))).toBe(30);
	expect(elapsedOf(run(10, null))).toBeNull();
	expect(elapsedOf(run())).toBeNull();
	const waiting = makeSegment("9");
	expect(elapsedOf({ ...run(10), segments: [...run(10).segments, waiting] })).toBe(10);
	expect(elapsedOf({ ...run(), segments: [waiting] })).toBeNull();
});
