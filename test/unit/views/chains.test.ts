/** What people see of chains: their story, their place in the status table, what a wait and a plan say. */
import { describe, expect, test } from "vitest";
import { updateOutcome } from "../../../src/cli/views/apply.ts";
import { eventSchema } from "../../../src/cli/views/events.ts";
import { paintFor } from "../../../src/cli/views/paint.ts";
import { planText } from "../../../src/cli/views/plan.ts";
import { statusEvents, statusText } from "../../../src/cli/views/status.ts";
import { waitingEvent, waitingText } from "../../../src/cli/views/waiting.ts";
import { whyEvent, whyText } from "../../../src/cli/views/why.ts";
import type { RunRecord, Segment } from "../../../state/document.ts";
import { makeDesired, makeDocument, makePlan, makeRun, makeSegment, makeState } from "../plan/runs.ts";

const paint = paintFor(0);
const clock = () => "13:45:10";
const ts = "2026-11-30T13:45:10Z";
const LIMITS = { maxRetries: 3, maxWalltime: null, noProgress: 3 };
const desired = makeDesired("mmlu", { limits: LIMITS });

function job(jobId: string, elapsed: number, word: string, retries: number, more: Partial<Segment>): Segment {
	return makeSegment(jobId, { startedAt: 1, endedAt: 2, elapsed, decision: { word, retries }, ...more });
}

const driver = { state: "FAILED", exitCode: 1, reason: "driver" };

/** Stopped by a fifth job, which did no work. */
const stopped = makeRun(desired, {
	status: "stopped",
	note: "3 of 3 retries spent",
	chain: { retries: 4, walltime: 34_802, idle: 0, budget: LIMITS },
	segments: [
		job("88002", 14_400, "resume", 0, { state: "FAILED", exitCode: 85, reason: "timeout" }),
		job("88031", 4810, "resume", 1, driver),
		job("88050", 7807, "resume", 2, driver),
		job("88077", 7785, "retries", 4, driver),
		makeSegment("88081", { startedAt: 3, endedAt: 4, elapsed: 0, exitCode: 1, reason: "retries" }),
	],
});

const live = makeRun(desired, {
	note: "on node17",
	chain: { retries: 0, walltime: 14_400, idle: 0, budget: LIMITS },
	segments: [
		job("88123", 14_400, "resume", 0, { state: "TIMEOUT" }),
		makeSegment("88140", { state: "RUNNING", startedAt: 3, elapsed: 60 }),
		makeSegment("88151", { state: "PENDING", reason: "Dependency" }),
	],
});

describe("why", () => {
	test("tells a run job by job, and what can be done", () => {
		expect(whyText({ address: "math/mmlu", run: stopped, asOf: 1 }, { paint })).toBe(
			`math/mmlu  stopped: 3 of 3 retries spent                                                    09:40:02
 1  88002  TIMEOUT   04:00:00  resumed, no retry spent
 2  88031  FAILED 1  01:20:10  retry 1 of 3             driver exited 1 (logs/driver-88031.log)
 3  88050  FAILED 1  02:10:07  retry 2 of 3             driver exited 1 (logs/driver-88050.log)
 4  88077  FAILED 1  02:09:45  stopped: retries spent   driver exited 1 (logs/driver-88077.log)
Next: nothing is queued. gym resume math/mmlu --reset-counters, or raise resumable.max_retries (3)
  in the gymfile.
Run directory: /evals/gym-job-20261130T101502Z-a1b2c3/mmlu
`,
		);
	});

	test("has no empty column where no chain decided anything", () => {
		const run = makeRun(desired, {
			status: "failed",
			segments: [makeSegment("7", { startedAt: 1, endedAt: 2, elapsed: 1, ...driver })],
		});
		expect(whyText({ address: "math/mmlu", run, asOf: 1 }, { paint }).split("\n")[1]).toBe(
			" 1  7  FAILED 1  00:00:01  driver exited 1 (logs/driver-7.log)",
		);
	});

	test("shows what waits, too", () => {
		const text = whyText({ address: "math/mmlu", run: live, asOf: 1 }, { paint });
		expect(text).toContain(" 2  88140  RUNNING  00:01:00");
		expect(text).toContain(" 3  88151  PENDING  –");
		expect(text).toContain("Next: job 88151 is queued and goes on if this one stops short.");
	});

	test.each([
		[{ ...stopped, status: "timeout", segments: stopped.segments.slice(0, 1) }, "gym apply goes on with it"],
		[{ ...stopped, status: "cancelled" }, "gym resume math/mmlu, or gym apply -replace=math/mmlu"],
		[{ ...stopped, status: "succeeded" }, "nothing, it is done"],
		[{ ...stopped, chain: { ...stopped.chain!, retries: 2 } }, "gym apply goes on with it"],
	] as const)("says what is next (%#)", (run, next) => {
		expect(whyText({ address: "math/mmlu", run: run as RunRecord, asOf: 1 }, { paint })).toContain(next);
	});

	test("is an event with every job", () => {
		const event = { ...whyEvent({ address: "math/mmlu", run: stopped, asOf: 1 }), ts };
		expect(eventSchema.parse(event)).toMatchObject({
			type: "why",
			retries: 4,
			max_retries: 3,
			no_progress: 3,
		});
		expect(event).toMatchObject({
			segments: [{ decision: "resume" }, {}, {}, { retries: 4 }, { reason: "retries" }],
		});
	});
});

describe("status", () => {
	const screen = (run: RunRecord) => ({
		rows: [{ stack: "math", benchmark: "mmlu", run }],
		asOf: 1,
		lags: false,
	});
	const line = (run: RunRecord) => statusText(screen(run), { paint, clock }).split("\n")[1]!;

	test("names the job that runs, not the one that waits", () => {
		expect(line(live)).toMatch(/ running +2 +.* 04:01:00 +88140 +on node17$/);
	});

	test("does not count jobs that only decided", () => {
		expect(line(stopped)).toMatch(/ stopped +4 +.* 88077 +3 of 3 retries spent$/);
	});

	test("says how many there may be where that is bounded", () => {
		const bounded = (maxWalltime: number) => ({
			...live,
			chain: { ...live.chain!, budget: { ...LIMITS, maxWalltime } },
		});
		expect(line(bounded(28_800))).toMatch(/ running +2 of ≤5 /);
		expect(eventSchema.parse({ ...statusEvents(screen(bounded(28_801)))[0], ts })).toMatchObject({
			segments: 2,
			segments_at_most: 6,
			job_id: "88140",
		});
	});
});

describe("a wait", () => {
	const change = { address: "math/mmlu", from: "running" as const, isOver: true };

	test("says what stopped short, and that nothing was done about it", () => {
		const run = {
			...stopped,
			status: "timeout" as const,
			note: "time limit reached",
			segments: stopped.segments.slice(0, 1),
		};
		expect(waitingText({ ...change, run, isDue: true })).toBe(
			"  math/mmlu   timeout   job 88002, time limit reached, stopped short: gym apply goes on with it\n",
		);
		expect(eventSchema.parse({ ...waitingEvent({ ...change, run, isDue: true }), ts })).toMatchObject({
			to: "timeout",
			due: true,
		});
	});
});

describe("a plan", () => {
	test("says what a chain that goes on has used up", () => {
		const run = {
			...stopped,
			status: "failed" as const,
			chain: { ...stopped.chain!, retries: 2 },
			segments: stopped.segments.slice(0, 3),
		};
		const text = planText(makePlan([desired], makeState({ mmlu: run })), { showJob: "none", paint });
		expect(text).toContain("# math/mmlu will be resumed");
		expect(text).toContain(" · goes on with its cache\n");
		expect(text).toContain("used so far: 2 of 3 retries, 09:40:02");
	});

	test("does not say that more was used up than there is", () => {
		const run = { ...stopped, status: "cancelled" as const };
		const goOn = { decided: true, resetCounters: false };
		const [action] = makePlan([desired], makeState({ mmlu: run })).actions;
		const actions = [{ ...action!, kind: "resume" as const, goOn }];
		const text = planText(makePlan([desired], null, { actions }), { showJob: "none", paint });
		expect(text).toContain("used so far: all 3 retries, 09:40:02");
	});

	test("says when a live chain takes up what changed", () => {
		const walltime = (limit: string) => {
			const document = new Map(makeDocument("acme/talker-8b"));
			document.set(
				"compute",
				new Map([
					[
						"lab",
						new Map([
							["type", "slurm"],
							["walltime", limit],
						]),
					],
				]),
			);
			return makeDesired("mmlu", { limits: LIMITS, document });
		};
		const run = makeRun(walltime("04:00:00"), { segments: live.segments, chain: live.chain });
		const text = planText(makePlan([walltime("08:00:00")], makeState({ mmlu: run })), {
			showJob: "none",
			paint,
		});
		expect(text).toContain("will be updated in place");
		expect(text).toContain("takes effect with the next one");
		expect(text).toContain("Plan: 1 to update, 0 to submit");
	});
});

test("an update that Slurm refused is told with its words", () => {
	expect(updateOutcome({ address: "math/mmlu", jobIds: [], error: "denied" })).toMatchObject({
		outcome: "refused",
		error: "denied",
	});
	expect(updateOutcome({ address: "math/mmlu", jobIds: ["7"], error: null })).toMatchObject({
		outcome: "updated",
		jobIds: ["7"],
	});
});
