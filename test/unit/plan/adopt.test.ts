/** Runs that are told from records, and which of them is taken in. */
import { describe, expect, test } from "vitest";
import { chooseRun, foundRuns, rivalRuns } from "../../../src/plan/adopt.ts";
import { decide } from "../../../src/plan/decide.ts";
import type { RunRecord } from "../../../state/document.ts";
import { makeDesired, makeRun, makeSegment, makeState } from "./runs.ts";

const SOUGHT = { user: "alice", knownDirs: new Set<string>(), queuedDirs: new Set<string>() };

interface Recorded {
	readonly id?: string;
	readonly benchmark?: string;
	readonly fingerprints?: unknown;
	readonly submittedAt?: string;
}

function submission({ id = "gym-job-1", benchmark = "gsm8k", fingerprints = "{}", submittedAt }: Recorded) {
	const record = JSON.stringify({
		gym_job_id: id,
		run_dir: `/evals/${id}`,
		submitted_by: "alice",
		submitted_at: submittedAt,
		benchmarks: [{ benchmark, job_dir: `/evals/${id}/${benchmark}`, job_id: "7" }],
		executor_metadata: { gymfile_fingerprints: fingerprints },
	});
	return { record, document: null, ids: "" };
}

describe("fingerprints", () => {
	const find = (benchmark: string, fingerprints: unknown) =>
		foundRuns(makeDesired(benchmark), [submission({ benchmark, fingerprints })], SOUGHT, () => null);

	test.each(["gsm8k", "__proto__", "constructor"])("the one of %s is its own", (name) => {
		const all = JSON.stringify(Object.fromEntries([[name, "1:abc"]]));
		expect(find(name, all)).toMatchObject([{ fingerprint: "1:abc", segments: [{ jobId: "7" }] }]);
	});

	test.each(["{}", "null", "[]", "5", "no JSON", '{"constructor":5}'])("%s names none", (all) => {
		expect(find("constructor", all)).toMatchObject([{ fingerprint: "" }]);
	});
});

describe("the order of runs", () => {
	const order = (recorded: readonly Recorded[], sought = SOUGHT) =>
		foundRuns(makeDesired("gsm8k"), recorded.map(submission), sought, () => null).map((run) => run.runId);
	const [first, second, third] = [
		"gym-job-20261130T100000Z-aaaaaa",
		"gym-job-20261130T110000Z-bbbbbb",
		"gym-job-20261130T120000Z-cccccc",
	] as const;

	test("is the cluster's, whatever the clock of the submitting machine said", () => {
		expect(
			order([
				{ id: third, submittedAt: "2026-11-30T10:30:00Z" },
				{ id: first, submittedAt: "2026-11-30T10:45:00Z" },
			]),
		).toEqual([first, third]);
	});

	test("is that of the names where a record has no time", () => {
		expect(order([{ id: first }, { id: third, submittedAt: "soon" }, { id: second }])).toEqual([
			third,
			second,
			first,
		]);
		expect(order([{ id: second }, { id: first, submittedAt: "2026-11-30T11:00:01Z" }])).toEqual([
			first,
			second,
		]);
	});

	test("runs that the state knows are not told, and one with a job in the queue is never passed over", () => {
		const ids = [1, 2, 3, 4, 5, 6, 7].map((n) => `gym-job-2026113${n}T100000Z-aaaaaa`);
		const at = (index: number) => `/evals/${ids[index]}/gsm8k`;
		const sought = { ...SOUGHT, knownDirs: new Set([at(6)]), queuedDirs: new Set([at(0)]) };
		expect(
			order(
				ids
					.slice(0, 6)
					.concat(ids[6]!)
					.map((id, n) => ({ id, submittedAt: `2026-11-0${n + 1}` })),
				sought,
			),
		).toEqual([5, 4, 3, 2, 1, 0].map((n) => ids[n]));
	});
});

const desired = makeDesired("gsm8k");
const run = (name: string, more: Partial<RunRecord> = {}) =>
	makeRun(desired, { runDir: `/evals/${name}`, jobDir: `/evals/${name}/gsm8k`, ...more });
const ended = (name: string, more: Partial<RunRecord> = {}) => run(name, { status: "succeeded", ...more });
const cut = (name: string, more: Partial<RunRecord> = {}) =>
	run(name, { status: "submitting", segments: [], ...more });
const OTHER = { fingerprint: "1:other" };

describe("which run is taken in", () => {
	const choose = (newestFirst: readonly RunRecord[], known: RunRecord | null = null) => {
		const { current, history, rivals } = chooseRun(newestFirst, desired.fingerprint, known);
		const names = (runs: readonly RunRecord[]) => runs.map(({ runDir }) => runDir.slice("/evals/".length));
		return [current ? names([current])[0] : null, names(history), names(rivals)];
	};

	test.each([
		["a live one, before a newer one that is over", [ended("c"), run("b"), ended("a")], "b", ["c", "a"], []],
		["the oldest of several live ones", [run("c"), run("b", OTHER), ended("a")], "b", ["a"], ["c"]],
		["a held one too", [ended("b"), run("a", { status: "held" })], "a", ["b"], []],
		["the newest of the same job", [ended("c", OTHER), ended("b"), ended("a")], "b", ["c", "a"], []],
		["one that had a job, before one that was cut short", [cut("b"), ended("a")], "a", [], []],
		["a submission of the same job that was cut short", [cut("b"), ended("a", OTHER)], "b", ["a"], []],
		["none of another job", [cut("b", OTHER), ended("a", OTHER)], null, ["a"], []],
	] as const)("%s", (_, found, current, history, rivals) => {
		expect(choose(found)).toEqual([current, history, rivals]);
	});

	test.each(["submitting", "held", "running"] as const)("none, while the state's own is %s", (status) => {
		expect(choose([run("c"), ended("b")], run("x", { status }))).toEqual([null, [], ["c"]]);
	});

	test("none that was cut short, when the state has a submission of its own", () => {
		expect(choose([cut("b")], cut("a", { status: "refused" }))).toEqual([null, [], []]);
	});

	test("a live one, when the state's own is over", () => {
		expect(choose([run("c")], run("x", { status: "failed" }))).toEqual(["c", [], []]);
	});
});

describe("what the plan makes of it", () => {
	const planned = (current: RunRecord, known: RunRecord | null = null) => {
		const found = new Map([["gsm8k", { current, history: [], rivals: [] }]]);
		const state = known && makeState({ gsm8k: known });
		const [action] = decide([desired], state, { stack: "math", replace: [], user: "alice", found });
		return [action!.kind, action!.reason];
	};

	test("a run that works or worked is adopted, also where the state knows one that is over", () => {
		expect(planned(run("a"))).toEqual(["adopt", "found"]);
		expect(planned(ended("a"))).toEqual(["adopt", "found"]);
		expect(planned(run("b"), run("a", { status: "refused", segments: [] }))).toEqual(["adopt", "found"]);
	});

	test("a held one of the same job is adopted and its submission finished", () => {
		expect(planned(run("a", { status: "held" }))).toEqual(["adopt", "unfinished-submission"]);
		expect(planned(run("a", { status: "held", ...OTHER }))).toEqual(["adopt", "found"]);
	});

	test("a submission without a job goes on in its own directory", () => {
		expect(planned(cut("a"))).toEqual(["submit", "unfinished-submission"]);
	});
});

describe("several live runs of one address", () => {
	const warn = (current: RunRecord | null, rivals: readonly RunRecord[], known: RunRecord | null = null) =>
		rivalRuns(
			"math",
			new Map([["gsm8k", { current, history: [], rivals }]]),
			known && makeState({ gsm8k: known }),
		);

	test("are named with directories and jobs, and what to do", () => {
		const [problem, ...more] = warn(run("a"), [run("b", { segments: [makeSegment("9")] })]);
		expect(more).toEqual([]);
		expect(problem).toMatchObject({ code: "several-live-runs", severity: "warning" });
		expect(problem!.message).toBe(
			"math/gsm8k has 2 live runs: /evals/a/gsm8k (job 88123) and /evals/b/gsm8k (job 9); the first one is its current run",
		);
		expect(problem!.remedy).toContain("gym cancel math/gsm8k, then gym adopt /evals/b");
	});

	test("the state's own among them", () => {
		expect(warn(null, [run("b")], run("a"))[0]!.message).toContain(
			"/evals/a/gsm8k (job 88123) and /evals/b/gsm8k (job 88123)",
		);
	});

	test("one is no reason to warn", () => {
		expect(warn(run("a"), [])).toEqual([]);
		expect(warn(null, [])).toEqual([]);
		expect(warn(null, [run("b")], cut("a"))).toEqual([]);
	});
});
