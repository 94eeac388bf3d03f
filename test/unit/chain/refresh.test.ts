/** What a look makes of a chain: its status and its segments, whatever of Slurm still answers. */
import { describe, expect, test } from "vitest";
import { resumption } from "../../../src/chain/resume.ts";
import { parseState, serializeState } from "../../../state/schema.ts";
import { makeState } from "../plan/runs.ts";
import { began, desired, followed, LIMITS, line, look, type Scene, submitted } from "./chains.ts";

const TIMEOUT = { "1": "85 timeout" };

const SCENES: readonly (readonly [string, Scene, status: string, next: string])[] = [
	[
		"one runs, its successor waits",
		{ queue: { 1: "RUNNING", 2: "PENDING Dependency" }, journal: began },
		"running",
		"waits",
	],
	[
		"between two segments",
		{ queue: { 1: "FAILED", 2: "PENDING Priority" }, journal: began, ends: TIMEOUT },
		"pending",
		"waits",
	],
	[
		"the successor runs",
		{ queue: { 2: "RUNNING" }, journal: [...began, ...followed(2, "resume")], ends: TIMEOUT },
		"running",
		"waits",
	],
	["its successor was lost", { queue: {}, journal: began, ends: TIMEOUT }, "timeout", "goes-on"],
	[
		"a node failed before anything began",
		{ queue: {}, accounting: { 1: "NODE_FAIL" } },
		"node-fail",
		"goes-on",
	],
	[
		"it was preempted, and nothing was queued",
		{ accounting: { 1: "PREEMPTED" }, journal: [line(1, "start")] },
		"preempted",
		"goes-on",
	],
	[
		"it failed, and nothing could be queued",
		{ ends: { 1: "3 driver" }, journal: [line(1, "start"), line(1, "next", { next: null })] },
		"failed",
		"goes-on",
	],
	["nobody knows how it ended", { queue: {}, accounting: null, journal: began }, "unknown", "goes-on"],
	[
		"Slurm says COMPLETED of a successor that left nothing",
		{ accounting: { 1: "TIMEOUT", 2: "COMPLETED" }, journal: began },
		"unknown",
		"waits",
	],
	["it was cancelled by hand", { accounting: { 1: "CANCELLED" }, journal: began }, "cancelled", "waits"],
	[
		"it had ended when it was cancelled with us",
		{ ends: TIMEOUT, journal: began, control: "stop\n" },
		"cancelled",
		"waits",
	],
	[
		"a later segment finished",
		{ ends: { ...TIMEOUT, 2: "0 finished" }, journal: [...began, ...followed(2, "resume")] },
		"succeeded",
		"waits",
	],
	[
		"its successor was cancelled after success",
		{ ends: { 1: "0 finished" }, accounting: { 1: "COMPLETED", 2: "CANCELLED never" }, journal: began },
		"succeeded",
		"waits",
	],
	[
		"a segment stopped it for its retries",
		{
			ends: { 1: "3 driver", 2: "1 retries" },
			counters: { ".gym_infra_retries": "4\n" },
			journal: [...began, ...followed(2, "retries")],
		},
		"stopped",
		"spent",
	],
	[
		"a segment stopped it for its cap",
		{
			ends: { ...TIMEOUT, 2: "0 cap" },
			accounting: { 2: "COMPLETED" },
			journal: [...began, ...followed(2, "cap")],
		},
		"stopped",
		"goes-on",
	],
	[
		"a segment stopped it without progress",
		{
			ends: { ...TIMEOUT, 2: "0 no-progress" },
			counters: { ".gym_idle_timeouts": "3\n" },
			journal: [...began, ...followed(2, "no-progress")],
		},
		"stopped",
		"spent",
	],
	[
		"it only decided, and its record is lost",
		{ accounting: { 1: "TIMEOUT", 2: "COMPLETED" }, journal: [...began, ...followed(2, "cap")] },
		"unknown",
		"waits",
	],
	["its directory is gone", { queue: {}, accounting: { 1: "TIMEOUT" }, exists: false }, "timeout", "waits"],
];

describe("a chain", () => {
	test.each(SCENES)("of which %s", (_, scene, status, next) => {
		const run = look(scene);
		expect(run.status).toBe(status);
		expect(resumption(run, LIMITS).kind).toBe(next);
		expect(resumption(run, null).kind).toBe("waits");
	});

	test("whose queue does not answer stays what it was, though its first job has ended", () => {
		expect(look({ queue: null, accounting: null, journal: began, ends: TIMEOUT })).toMatchObject({
			status: "pending",
			note: "the queue could not be read",
		});
	});

	test("keeps every job in order with its end, its time and what was decided", () => {
		const journal = [
			...began,
			...followed(2, "resume"),
			...followed(3, "resume", { previous: "2", state: "FAILED", retries: 1 }),
		];
		const scene = { queue: { 3: "RUNNING", 4: "PENDING Dependency" }, ends: { ...TIMEOUT, 2: "1 driver" } };
		expect(look({ ...scene, journal }).segments).toMatchObject([
			{ jobId: "1", reason: "timeout", exitCode: 85, elapsed: 60, decision: { word: "resume", retries: 0 } },
			{ jobId: "2", reason: "driver", exitCode: 1, elapsed: 60, decision: { word: "resume", retries: 1 } },
			{ jobId: "3", state: "RUNNING", elapsed: 5, decision: null },
			{ jobId: "4", state: "PENDING", startedAt: null, decision: null },
		]);
	});

	test("forgets why a job waited once it runs, and keeps how it ended", () => {
		const waiting = look({ queue: { 1: "PENDING Priority" } });
		expect(waiting.segments[0]!.reason).toBe("Priority");
		const running = look({ queue: { 1: "RUNNING" }, journal: began }, waiting);
		expect(running.segments[0]!.reason).toBeNull();
		const ended = look({ queue: {}, journal: began, ends: TIMEOUT }, running);
		expect(look({ queue: {}, journal: began }, ended).segments[0]!.reason).toBe("timeout");
	});

	test("is told from its files when Slurm has forgotten all of it", () => {
		const journal = [...began, ...followed(2, "resume", { state: "NODE_FAIL" })];
		const run = look({ queue: {}, accounting: null, journal, ends: { 2: "85 timeout" } });
		expect(run.status).toBe("timeout");
		expect(run.segments.slice(0, 2)).toMatchObject([
			{ jobId: "1", state: "NODE_FAIL", elapsed: 60 },
			{ jobId: "2", reason: "timeout", elapsed: 60 },
		]);
	});

	test("is not unlearned by a later look that hears less", () => {
		const before = look({ accounting: { 1: "NODE_FAIL" }, journal: [line(1, "start")] });
		expect(look({ queue: {}, accounting: null, journal: [line(1, "start")] }, before).status).toBe(
			"node-fail",
		);
	});

	test("has its counters and limits read", () => {
		const counters = {
			".gym_infra_retries": "2\n",
			".gym_accumulated_walltime": "90\n",
			".gym_idle_timeouts": "x",
		};
		const run = look({ queue: { 1: "RUNNING" }, counters });
		expect(run.chain).toEqual({ retries: 2, walltime: 90, idle: 0, budget: LIMITS });
		expect(
			look({ queue: { 1: "RUNNING" }, counters: { "budget.json": '{"max_ret' } }).chain!.budget,
		).toBeNull();
	});

	test("has no counter that nobody can have counted up to", () => {
		const counters = { ".gym_infra_retries": "9".repeat(16), ".gym_accumulated_walltime": "9".repeat(400) };
		expect(look({ queue: { 1: "RUNNING" }, counters }).chain).toMatchObject({ retries: 0, walltime: 0 });
	});

	test("has lost its limits when its files are gone, but not when they are another user's", () => {
		const known = { retries: 2, walltime: 60, idle: 1, budget: LIMITS };
		const seen = (submittedBy: string) =>
			look({ queue: { 1: "RUNNING" }, counters: null }, { ...submitted, submittedBy, chain: known }).chain;
		expect(seen("alice")).toEqual({ ...known, budget: null });
		expect(seen("bob")).toEqual(known);
	});

	test("is read from a journal whose lines are cut off or damaged", () => {
		const whole = [...began, ...followed(2, "resume")];
		const damaged = ['obs":1}', "", "null", "[1]", '{"job":"x"}', '{"job":9,"at":1e308,"event":"start"}'];
		const journal = [...damaged, ...whole, '{"job":2,"at":200,"event":"ne'];
		expect(look({ ends: TIMEOUT, queue: { 2: "RUNNING" }, journal })).toEqual(
			look({ ends: TIMEOUT, queue: { 2: "RUNNING" }, journal: whole }),
		);
	});

	test("is kept by the state, and a state from before chains has none", () => {
		const state = makeState({ b: look({ queue: { 1: "RUNNING" }, journal: began }) });
		const text = serializeState(state);
		expect(parseState(text, "x").benchmarks).toEqual(state.benchmarks);
		const older = text.replace(/"chain": \{[^}]*\{[^}]*\}[^}]*\},/, "").replaceAll(/"decision": null,/g, "");
		expect(older).not.toContain("maxRetries");
		expect(parseState(older, "x").benchmarks.get("b")!.current!.chain).toBeNull();
	});
});

describe("a successor that waits for what cannot come", () => {
	const stuck = { 2: "PENDING DependencyNeverSatisfied" };

	test("is no work in progress, and is named", () => {
		const run = look({ queue: stuck, journal: began, ends: { 1: "0 finished" } });
		expect(run).toMatchObject({ status: "succeeded", note: expect.stringContaining("job 2 waits for ever") });
	});

	test("does not keep the chain from going on, nor is it taken for its next job", () => {
		const run = look({ queue: stuck, journal: began, ends: TIMEOUT });
		expect(run.status).toBe("timeout");
		expect(resumption(run, desired.limits).kind).toBe("goes-on");
		expect(run.segments[1]).toMatchObject({ jobId: "2", endedAt: 1000 });
	});

	test("is the user's own matter in a first job", () => {
		expect(look({ queue: { 1: "PENDING DependencyNeverSatisfied" } }).status).toBe("pending");
	});
});

test("a job that nobody knew any more and that comes back is live", () => {
	const lost = look({ queue: {}, journal: began });
	expect(lost.segments[0]).toMatchObject({ endedAt: 1000 });
	expect(look({ queue: { 1: "RUNNING" }, journal: began }, lost)).toMatchObject({
		status: "running",
		segments: [{ jobId: "1", endedAt: null }, { jobId: "2" }],
	});
});

test("a benchmark that is not resumable has no chain", () => {
	const scene = { ends: { 1: "3 driver" }, journal: [line(1, "start")] };
	const run = look(scene, submitted);
	expect(resumption({ ...run, chain: null }, LIMITS).kind).toBe("waits");
});
