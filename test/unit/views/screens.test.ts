import { describe, expect, test } from "vitest";
import {
	cancelOutcome,
	outcomesText,
	questionText,
	submitOutcome,
	summaryText,
} from "../../../src/cli/views/apply.ts";
import { columns, justify, printable, wrap } from "../../../src/cli/views/layout.ts";
import { paintFor } from "../../../src/cli/views/paint.ts";
import { problemsText } from "../../../src/cli/views/problems.ts";
import { statusText } from "../../../src/cli/views/status.ts";
import { humanView } from "../../../src/cli/views/view.ts";
import { durationText, thousands } from "../../../src/cli/views/words.ts";
import type { Progress } from "../../../state/document.ts";
import { makeDesired, makePlan, makeRun, makeSegment, makeState } from "../plan/runs.ts";

const paint = paintFor(0);
const clock = () => "13:45:10";

describe("status", () => {
	const progress: Progress = {
		done: 312,
		expected: 1000,
		rewardSum: 128,
		rewardCount: 312,
		rewardSquares: 128,
		offset: 9,
	};
	const full: Progress = {
		...progress,
		done: 198,
		expected: 198,
		rewardCount: 198,
		rewardSum: 113,
		rewardSquares: 113,
	};
	const row = (benchmark: string, more: Parameters<typeof makeRun>[1]) => ({
		stack: "math",
		benchmark,
		run: makeRun(makeDesired(benchmark), more),
	});

	test("is a table; mean ± standard error when finished, so far until then", () => {
		const rows = [
			row("aime", {
				note: "on node17",
				progress,
				segments: [
					makeSegment("88123", { startedAt: 1, elapsed: 14_400 }),
					makeSegment("88140", { startedAt: 2, elapsed: 4360 }),
				],
			}),
			row("gpqa", {
				status: "succeeded",
				progress: full,
				segments: [makeSegment("88091", { elapsed: 7391 })],
			}),
			row("gsm8k", { status: "pending", note: "Priority", segments: [makeSegment("88202")] }),
			row("mmlu", { status: "refused", note: "sbatch: error: no\nmore", segments: [] }),
		];
		expect(statusText({ rows, asOf: 1, lags: true }, { paint, clock })).toBe(
			`STACK  BENCHMARK  STATUS     SEGMENT  ROLLOUTS   REWARD         ELAPSED   JOB    NOTE
math   aime       running    2        312/1,000  0.41 so far    05:12:40  88140  on node17
math   gpqa       succeeded  1        198/198    0.571 ± 0.035  02:03:11  88091
math   gsm8k      pending    1        –          –              –         88202  Priority
math   mmlu       refused    –        –          –              –         –      sbatch: error: no
as of 13:45:10 · accounting lags, queue is current
`,
		);
	});

	test("of jobs that no accounting keeps says when, and no more", () => {
		const text = statusText({ rows: [row("aime", {})], asOf: 1, lags: false }, { paint, clock });
		expect(text.trimEnd().split("\n").at(-1)).toBe("as of 13:45:10");
	});

	test("cuts long notes at the screen's width", () => {
		const text = statusText(
			{ rows: [row("aime", { note: "x".repeat(200) })], asOf: null, lags: true },
			{ paint, clock },
		);
		expect(Math.max(...text.split("\n").map(columns))).toBe(100);
		expect(text).toContain("x…\n");
		expect(text).toContain("the cluster was not asked");
	});

	test("keeps long names whole and the rest of their rows in its columns", () => {
		const long = "a-benchmark-with-a-name-of-more-than-forty-letters";
		const segments = [makeSegment("88123", { elapsed: 14_400 })];
		const rows = [row("aime", { segments }), { ...row(long, { segments, progress }), stack: "a-long-stack" }];
		const lines = statusText({ rows, asOf: 1, lags: false }, { paint, clock }).split("\n");
		expect(lines.slice(0, 4)).toEqual([
			"STACK  BENCHMARK  STATUS   SEGMENT  ROLLOUTS   REWARD       ELAPSED   JOB    NOTE",
			"math   aime       running  1        –          –            04:00:00  88123",
			`a-long-stack  ${long}`,
			"                  running  1        312/1,000  0.41 so far  04:00:00  88123",
		]);
	});

	test("of nothing says what to do", () => {
		expect(statusText({ rows: [], asOf: null, lags: true }, { paint, clock })).toContain("gym plan");
	});
});

describe("errors", () => {
	const problems = [
		{
			code: "pool-unknown",
			severity: "error" as const,
			at: "services.policy.node_pool",
			message: 'no pool "gpus" on compute "lab"',
			remedy: 'pools: gpu, aux; did you mean "gpu"?',
			source: { file: "gymfile.ts", line: 20 },
			construct: "math/policy",
		},
		{
			code: "unknown-key",
			severity: "error" as const,
			at: "services.policy.tensor_paralell_size",
			message: "unknown field",
			remedy: 'did you mean "tensor_parallel_size"?',
			source: { file: "submit.yaml", line: 7, column: 5 },
		},
		{
			code: "no-sbatch",
			severity: "error" as const,
			at: "",
			message: "sbatch is not on PATH",
			remedy: "name the login node",
		},
	];

	test("show what, where, what to do, all of them, and the exit code", () => {
		expect(problemsText({ problems, exit: "invalid", aftermath: "not-contacted" }, paint)).toBe(
			`error[pool-unknown]  services.policy.node_pool: no pool "gpus" on compute "lab"
  gymfile.ts:20        math/policy
                       pools: gpu, aux; did you mean "gpu"?

error[unknown-key]  services.policy.tensor_paralell_size: unknown field
  submit.yaml:7:5      did you mean "tensor_parallel_size"?

error[no-sbatch]  sbatch is not on PATH
  name the login node

3 errors. Nothing was contacted.                                                              exit 3
`,
		);
	});

	test("count errors only, and claim nothing that is not known", () => {
		const warning = { code: "w", severity: "warning" as const, at: "", message: "m" };
		const text = problemsText(
			{ problems: [problems[2]!, warning], exit: "refused", aftermath: "unknown" },
			paint,
		);
		expect(text).toContain("warning[w]  m");
		expect(text).toMatch(/^1 error\. {2,}exit 4$/m);
	});

	test("keep the lines of remote words, without their control characters", () => {
		const message = "sbatch said:\nline \u001b[31mtwo\r\nthree";
		const text = problemsText(
			{
				problems: [{ code: "x", severity: "error", at: "", message }],
				exit: "failure",
				aftermath: "unknown",
			},
			paint,
		);
		expect(text).toContain("error[x]  sbatch said:\n    line \\x1b[31mtwo\n    three\n");
	});
});

describe("apply", () => {
	const answer = {
		benchmark: "ifeval",
		jobId: "88201",
		error: null,
		state: "PENDING",
		reason: "Priority",
		submittedAt: 1,
		estimatedStart: 2,
		cluster: null,
	};
	const taken = submitOutcome("math/ifeval", answer);
	const refused = submitOutcome("math/gsm8k", {
		...answer,
		jobId: null,
		error: "sbatch: error: one\nsbatch: error: two",
		state: null,
	});

	const planOf = (names: readonly string[], gone: readonly string[]) =>
		makePlan(
			names.map((name) => makeDesired(name)),
			makeState(Object.fromEntries(gone.map((name) => [name, makeRun(makeDesired(name))]))),
		);

	test("asks naming jobs, cluster, user, account and cost", () => {
		const target = { cluster: "lab", user: "alice", account: "lab-07" };
		expect(questionText(planOf(["a", "b"], []), target)).toBe(
			'Submit 2 jobs to lab as alice, account lab-07, at most 64.0 GPU-hours?  Only "yes" is accepted: ',
		);
		expect(questionText(planOf([], ["x"]), { ...target, account: null })).toBe(
			'Cancel 1 run on lab as alice?  Only "yes" is accepted: ',
		);
	});

	test("says what became of each job, in sbatch's own words", () => {
		const outcomes = [
			taken,
			refused,
			cancelOutcome("math/old", ["1", "2"], false),
			cancelOutcome("math/x", ["3"], true),
		];
		expect(outcomesText(outcomes, [], { paint, clock: () => "14:20" })).toBe(
			`  math/ifeval    submitted   job 88201   pending (Priority), estimated 14:20
  math/gsm8k     refused     sbatch: error: one
                             sbatch: error: two
  math/old       cancelled   job 1, 2
  math/x         left        job 3   still listed: run gym cancel math/x
`,
		);
	});

	test("stands in line with what is told later", () => {
		const long = cancelOutcome("math/a-very-long-name", ["1"], false);
		const all = [long.address, "math/b"];
		const text = [long, cancelOutcome("math/b", ["2"], false)].map((one) =>
			outcomesText([one], all, { paint, clock }),
		);
		expect(text).toEqual([
			"  math/a-very-long-name   cancelled   job 1\n",
			"  math/b                  cancelled   job 2\n",
		]);
	});

	test("has what became of a long address below it", () => {
		const long = cancelOutcome("math/a-benchmark-with-a-name-of-more-than-forty-letters", ["1"], false);
		expect(outcomesText([long, cancelOutcome("math/b", ["2"], false)], [], { paint, clock })).toBe(
			`  ${long.address}
                 cancelled   job 1
  math/b         cancelled   job 2
`,
		);
	});

	test("ends with counts, run directory and how to follow", () => {
		expect(
			summaryText({ stack: "math", outcomes: [taken], runDirs: ["/r/1"], serial: 14, elapsed: 1.94 }),
		).toBe("Run directory: /r/1\n1 submitted in 1.9 s. State serial 14. Follow: gym status math\n");
	});

	test("of which a part failed says that nothing is lost", () => {
		const text = summaryText({
			stack: "math",
			outcomes: [taken, refused],
			runDirs: ["/r/1"],
			serial: 14,
			elapsed: 2,
		});
		expect(text).toMatch(
			/^1 submitted, 1 refused\. Nothing is lost: the next plan shows only math\/gsm8k\. +exit 1$/m,
		);
	});
});

test("answers go to stdout, problems to stderr", () => {
	const written: string[] = [];
	const sink = {
		out: (text: string) => written.push(`out ${text}`),
		err: (text: string) => written.push(`err ${text}`),
	};
	const view = humanView(sink, { paint, errorPaint: paint, showJob: "fold", clock });
	view.status({ rows: [], asOf: null, lags: true });
	view.problems({ problems: [], exit: "failure", aftermath: "unknown" });
	expect(written.map((text) => text.slice(0, 3))).toEqual(["out", "err"]);
});

describe("layout", () => {
	test("wraps at the width, keeps indents and words", () => {
		const text = `  ${Array.from({ length: 40 }, (_, i) => `word${i}`).join(" ")}`;
		const lines = wrap(text, "    ");
		expect(lines.length).toBeGreaterThan(1);
		expect(lines.every((line) => columns(line) <= 100)).toBe(true);
		expect(lines[0]).toMatch(/^ {2}word0/);
		expect(lines[1]).toMatch(/^ {4}word/);
		expect(lines.map((line) => line.trim()).join(" ")).toBe(text.trim());
	});

	test("never breaks a word or drops what does not fit", () => {
		const long = "x".repeat(150);
		expect(wrap(`some ${long}`, "  ")).toEqual(["some", `  ${long}`]);
		expect(wrap(`# ${long}  more`, "  ")).toEqual([`# ${long}`, "  more"]);
		expect(justify(long, "right")).toBe(`${long}  right`);
	});

	test("makes foreign text safe and leaves the rest", () => {
		expect(printable("é – 日本\tx")).toBe("é – 日本\tx");
		expect(printable("\u0007\u001b]0;t\u0007")).toBe("\\x07\\x1b]0;t\\x07");
	});
});

test("numbers and durations", () => {
	expect([0, 999, 1000, 1_234_567].map(thousands)).toEqual(["0", "999", "1,000", "1,234,567"]);
	expect([0, 59.6, 3661, 90_061].map(durationText)).toEqual([
		"00:00:00",
		"00:01:00",
		"01:01:01",
		"1-01:01:01",
	]);
});
