import { describe, expect, test } from "vitest";
import { cancelOutcome, submitOutcome } from "../../../src/cli/views/apply.ts";
import { type Event, eventSchema } from "../../../src/cli/views/events.ts";
import { jsonView, type View } from "../../../src/cli/views/view.ts";
import type { RunRecord } from "../../../state/document.ts";
import { makeDesired, makeDocument, makePlan, makeRun, makeSegment, makeState } from "../plan/runs.ts";

/** The lines that a view wrote. */
function linesOf(use: (view: View) => void): readonly string[] {
	let text = "";
	const sink = {
		out: (more: string) => {
			text += more;
		},
		err: () => expect.unreachable("machine data goes to stdout only"),
	};
	use(jsonView(sink, { gymfile: "0.1.0", now: () => "2026-11-30T13:45:10.000Z" }));
	expect(text.endsWith("\n")).toBe(true);
	return text.trimEnd().split("\n");
}

/** The same, each line checked against the exported schema. */
function eventsOf(use: (view: View) => void): readonly Event[] {
	return linesOf(use).map((line) => eventSchema.parse(JSON.parse(line)));
}

const same = makeDesired("aime");
const changed = makeDesired("gsm8k", { document: makeDocument("acme/talker-32b", 8) });
const state = makeState({
	gsm8k: makeRun(makeDesired("gsm8k")),
	aime: makeRun(same),
	old: makeRun(makeDesired("old")),
});
const plan = makePlan([changed, same, makeDesired("new")], state, {
	drift: [{ address: "math/aime", from: "pending", to: "running", message: "job 88123 is running" }],
	problems: [{ code: "c", severity: "warning", at: "a.b", message: "m", source: { file: "f", line: 1 } }],
});

test("the first line is the version, whatever follows", () => {
	expect(eventsOf(() => undefined)).toEqual([{ type: "version", format: "1.1", gymfile: "0.1.0" }]);
});

test("a plan is drift, every action, diagnostics, summary", () => {
	const events = eventsOf((view) => view.plan(plan)).slice(1);
	expect(events.map((event) => event.type)).toEqual([
		"drift",
		"planned_change",
		"planned_change",
		"planned_change",
		"planned_change",
		"diagnostic",
		"change_summary",
	]);
	expect(events[1]).toMatchObject({
		addr: "math/gsm8k",
		action: "resubmit",
		reason: "live-chain",
		changes: [
			{
				path: ["services", "policy", "model"],
				before: "acme/talker-8b",
				after: "acme/talker-32b",
				class: "results",
			},
			{ path: ["services", "policy", "tensor_parallel_size"], before: 2, after: 8, class: "speed" },
		],
		refused: { code: "live-chain", severity: "error" },
		run: { job_ids: ["88123"], status: "running" },
	});
	expect(events[5]).toMatchObject({ code: "c", at: "a.b", file: "f", line: 1 });
	expect(events[6]).toMatchObject({
		submit: 1,
		resubmit: 0,
		refused: 1,
		cancel: 1,
		unchanged: 1,
		gpu_hours_at_most: 32,
	});
});

test("an absent path has no value, which is not null; names are only names", () => {
	const run = makeRun(makeDesired("x", { document: new Map([["a", null]]) }), { status: "failed" });
	const after = new Map([["b", new Map([["__proto__", 1]])]]);
	const lines = linesOf((view) =>
		view.plan(makePlan([makeDesired("x", { document: after })], makeState({ x: run }))),
	);
	expect(lines[1]).toContain('{"path":["b"],"after":{"__proto__":1},"class":"results"}');
	expect(lines[1]).toContain('{"path":["a"],"before":null,"class":"results"}');
});

test("an apply is start, an outcome each, and its end", () => {
	const answer = {
		benchmark: "new",
		jobId: "88201",
		error: null,
		state: "PENDING",
		reason: "Priority",
		submittedAt: 1,
		estimatedStart: 2,
		cluster: null,
	};
	const outcomes = [
		submitOutcome("math/new", answer),
		submitOutcome("math/b", { ...answer, jobId: null, error: "sbatch: error: no", state: null }),
		cancelOutcome("math/old", ["1", "2"], false),
		cancelOutcome("math/older", ["3"], true),
	];
	const events = eventsOf((view) => {
		view.applyStart("math", 2, 2);
		view.applyOutcomes(outcomes, []);
		view.applyComplete({ stack: "math", outcomes, runDirs: ["/r"], serial: 14, elapsed: 1.9 });
	}).slice(1);
	expect(events.map((event) => event.type)).toEqual([
		"apply_start",
		...Array(4).fill("apply_outcome"),
		"apply_complete",
	]);
	expect(events.slice(1, 5)).toMatchObject([
		{ outcome: "submitted", job_ids: ["88201"], reason: "Priority", estimated_start: 2 },
		{ outcome: "refused", job_ids: [], error: "sbatch: error: no" },
		{ outcome: "cancelled", job_ids: ["1", "2"] },
		{ outcome: "left", job_ids: ["3"] },
	]);
	expect(events[5]).toMatchObject({
		submitted: 1,
		refused: 1,
		cancelled: 1,
		left: 1,
		run_dirs: ["/r"],
		serial: 14,
	});
});

describe("status", () => {
	const statusOf = (more: Partial<RunRecord>) =>
		eventsOf((view) =>
			view.status({
				rows: [{ stack: "math", benchmark: "aime", run: makeRun(same, more) }],
				asOf: 5,
				lags: true,
			}),
		)[1];

	test("has progress and reward as numbers", () => {
		const progress = { done: 4, expected: 8, rewardSum: 2, rewardCount: 4, rewardSquares: 2, offset: 1 };
		expect(statusOf({ progress, segments: [makeSegment("7", { elapsed: 60 })] })).toMatchObject({
			addr: "math/aime",
			status: "running",
			job_id: "7",
			elapsed: 60,
			rollouts_done: 4,
			rollouts_expected: 8,
			reward_mean: 0.5,
			as_of: 5,
		});
	});

	test("has null for what is not known", () => {
		expect(statusOf({ segments: [] })).toMatchObject({
			job_id: null,
			elapsed: null,
			rollouts_done: null,
			reward_mean: null,
		});
	});
});

test("a document is text and data", () => {
	const raw = new Map([["job", new Map([["output_path", "/x"]])]]);
	const [, event] = eventsOf((view) => view.document({ stack: "math", raw, yaml: "job:\n", file: null }));
	expect(event).toMatchObject({
		type: "document",
		stack: "math",
		yaml: "job:\n",
		document: { job: { output_path: "/x" } },
		file: null,
	});
});

test("problems are diagnostics and the exit code", () => {
	const problems = [
		{ code: "a", severity: "error" as const, at: "", message: "m", remedy: "r", construct: "math/x" },
		{ code: "b", severity: "warning" as const, at: "", message: "m" },
	];
	const events = eventsOf((view) => view.problems({ problems, exit: "refused", aftermath: "unknown" })).slice(
		1,
	);
	expect(events).toMatchObject([
		{ type: "diagnostic", code: "a", remedy: "r", construct: "math/x" },
		{ type: "diagnostic", code: "b", severity: "warning" },
		{ type: "failed", exit: "refused", exit_code: 4, errors: 1 },
	]);
});
