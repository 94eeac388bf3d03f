import { describe, expect, test } from "vitest";
import { columns } from "../../../src/cli/views/layout.ts";
import { paintFor } from "../../../src/cli/views/paint.ts";
import { planText } from "../../../src/cli/views/plan.ts";
import type { ShowJob } from "../../../src/cli/views/plan-changes.ts";
import { humanView } from "../../../src/cli/views/view.ts";
import { decide } from "../../../src/plan/decide.ts";
import type { Desired, Plan } from "../../../src/plan/plan.ts";
import type { Progress } from "../../../state/document.ts";
import {
	makeDesired,
	makeDocument,
	makePlan,
	makeRun,
	makeSegment,
	makeState,
	toValue,
} from "../plan/runs.ts";

const PROGRESS: Progress = {
	done: 312,
	expected: 1000,
	rewardSum: 128,
	rewardCount: 312,
	rewardSquares: 128,
	offset: 9,
};

const show = (plan: Plan, showJob: ShowJob = "fold", level: 0 | 1 = 0) =>
	planText(plan, { showJob, paint: paintFor(level) });

const changed: Desired = {
	...makeDesired("gsm8k", {
		document: makeDocument("acme/talker-32b", 8),
		rendered: { "job.sh": "#!/bin/bash\nvllm serve acme/talker-32b\n" },
	}),
	sources: { locate: () => ({ source: { file: "gymfile.ts", line: 20 } }) },
};

/** One of everything that a plan can hold today. */
function makeFullPlan(): Plan {
	const names = ["ifeval", "mmlu", "aime", "gpqa"];
	const [ifeval, mmlu, aime, gpqa] = names.map((name) => makeDesired(name)) as [
		Desired,
		Desired,
		Desired,
		Desired,
	];
	const state = makeState({
		gsm8k: makeRun(makeDesired("gsm8k"), {
			status: "succeeded",
			segments: [makeSegment("1", { elapsed: 3600 })],
		}),
		mmlu: makeRun(mmlu, { status: "failed", note: "driver exited 1" }),
		aime: makeRun(aime, { progress: PROGRESS }),
		gpqa: makeRun(gpqa, {
			status: "succeeded",
			progress: {
				...PROGRESS,
				done: 198,
				expected: 198,
				rewardCount: 198,
				rewardSum: 113,
				rewardSquares: 113,
			},
		}),
		old: makeRun(makeDesired("old"), { status: "pending" }),
	});
	return makePlan([changed, ifeval, mmlu, aime, gpqa], state, {
		drift: [
			{ address: "math/aime", from: "pending", to: "running", message: "job 88123 is running: on node17" },
		],
		problems: [
			{
				code: "idle-gpus",
				severity: "warning",
				at: "",
				message: 'services.policy uses 8 of 16 GPUs of pool "big"',
				source: { file: "gymfile.ts", line: 18 },
			},
		],
	});
}

const FULL_SCREEN = `gym plan · stack math · cluster lab (login.lab.example, ssh) · state local serial 12

Drift since the last apply
  math/aime      job 88123 is running: on node17

Actions:  + submit   -/+ resubmit   - cancel   ! needs a decision

# math/gsm8k will be submitted  (changes results: model)
-/+ services.policy                                                                    gymfile.ts:20
      model                  "acme/talker-8b" → "acme/talker-32b"
      tensor_parallel_size   2 → 8                             (speed only)
    job: 1 node × 8 GPUs, 04:00:00, partition batch · the earlier run's cache cannot be reused
    job.sh   @@ -1,2 +1,2 @@
       #!/bin/bash
      -vllm serve acme/talker-8b
      +vllm serve acme/talker-32b

# math/ifeval will be submitted
+   job: 1 node × 8 GPUs, 04:00:00, partition batch · model acme/talker-8b

! math/mmlu  failed: driver exited 1 (run kept: /evals/gym-job-20261130T101502Z-a1b2c3/mmlu)
    gym why math/mmlu · gym logs math/mmlu · gym resume math/mmlu · gym apply -replace=math/mmlu

# math/old will be cancelled  (no longer in the gymfile)
-   job 88123, pending; artifacts and history are kept

2 unchanged: math/aime (running, 312/1,000 rollouts), math/gpqa (succeeded, 0.571 ± 0.035)

Plan: 1 to submit, 1 to resubmit, 0 to resume, 1 to cancel. 1 needs a decision.
GPU-hours: at most 64.0. 2 nodes in all.
Warning  idle-gpus  services.policy uses 8 of 16 GPUs of pool "big"                    gymfile.ts:18
`;

describe("the plan screen", () => {
	test("has everything in its place", () => {
		expect(show(makeFullPlan())).toBe(FULL_SCREEN);
	});

	test("says the same with colours", () => {
		const painted = show(makeFullPlan(), "fold", 1);
		expect(painted).not.toBe(FULL_SCREEN);
		expect(painted.replace(/\u001b\[\d+m/g, "")).toBe(FULL_SCREEN);
	});

	test("says when the cluster was not asked and when there is no state", () => {
		const first = show(makePlan([makeDesired("gsm8k")], null, { refreshed: false, cluster: null })).split(
			"\n",
		)[0];
		expect(first).toBe("gym plan · stack math · state local (none yet) · not refreshed");
	});

	test("has an expected cost once there are earlier runs", () => {
		const run = makeRun(makeDesired("gsm8k"), {
			status: "succeeded",
			segments: [makeSegment("1", { elapsed: 1800 })],
		});
		expect(show(makePlan([changed], makeState({ gsm8k: run })))).toContain(
			"GPU-hours: at most 32.0 (expected 4.0, from 1 earlier run). 1 node in all.",
		);
	});

	test("says so when nothing bounds the cost, or the GPUs are not known", () => {
		const size = { nodes: 2, gpusPerNode: 8, walltime: null, partition: null };
		expect(show(makePlan([makeDesired("a", { size })], null))).toContain("GPU-hours: no upper bound.");
		const unknown = show(makePlan([makeDesired("a", { size: { ...size, gpusPerNode: null } })], null));
		expect(unknown).toContain("2 nodes in all. GPU-hours: not known, as no pool says gpus_per_node.");
	});

	test("says nothing of nodes and GPUs of this machine", () => {
		const size = { nodes: 1, gpusPerNode: null, walltime: null, partition: null };
		const document = new Map([...makeDocument("m"), ["compute", toValue({ here: { type: "local" } })]]);
		const text = show(makePlan([makeDesired("a", { size, document })], null));
		expect(text.endsWith("Plan: 1 to submit, 0 to resubmit, 0 to resume, 0 to cancel.\n")).toBe(true);
	});

	test("stands apart from that of another stack", () => {
		let out = "";
		const paint = paintFor(0);
		const sink = { out: (text: string) => (out += text), err: () => expect.unreachable() };
		const view = humanView(sink, { paint, errorPaint: paint, showJob: "fold", clock: String });
		view.plan(makePlan([], makeState({})));
		view.plan(makePlan([], makeState({})));
		expect(out).toMatch(/^gym plan [\s\S]* is live\.\n\ngym plan [\s\S]* is live\.\n$/);
	});

	test("has lines of the screen's width, whatever the names", () => {
		const name = "a-benchmark-with-a-name-of-more-than-forty-letters-and-then-some";
		const stack = "a-stack-with-a-name-of-thirty";
		const address = `${stack}/${name}`;
		const one = { ...changed, benchmark: name };
		const runs = [{ status: "failed" as const, note: "driver exited 1" }, {}].map((more) =>
			makeRun(makeDesired(name), { ...more, jobDir: `/evals/gym-job-20261130T101502Z-a1b2c3/${name}` }),
		);
		const wide = runs.flatMap((run) =>
			[one, makeDesired(name)].flatMap((wanted) => {
				const state = makeState({ [name]: run });
				const actions = decide([wanted], state, { stack, replace: [], user: "alice" });
				const drift = [{ address, from: "pending" as const, to: "running" as const, message: "job 1 runs" }];
				const text = show(makePlan([wanted], state, { stack, actions, drift, cluster: "c".repeat(50) }));
				return text.split("\n").filter((line) => columns(line) > 100);
			}),
		);
		// Commands and paths stay whole, to be copied.
		expect(wide.filter((line) => !/^ {4}(gym |\(run kept: )/.test(line))).toEqual([]);
	});

	test("keeps long commands whole", () => {
		const name = "a-benchmark-with-a-name-of-more-than-forty-letters";
		const one = makeDesired(name);
		const lines = show(makePlan([one], makeState({ [name]: makeRun(one, { status: "failed" }) }))).split(
			"\n",
		);
		expect(lines).toContain(`    gym why math/${name}`);
		expect(lines).toContain(`    gym apply -replace=math/${name}`);
	});
});

describe("rendered jobs", () => {
	const long = Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join("");
	const grown = { ...changed, rendered: { "job.sh": long } };
	const state = makeState({ gsm8k: makeRun(makeDesired("gsm8k"), { status: "failed" }) });

	test("are folded beyond forty lines, and say how to unfold", () => {
		const text = show(makePlan([grown], state));
		expect(text).toContain("line 30");
		expect(text).not.toContain("line 60");
		expect(text).toContain("… 62 more lines, shown with --show-job=full");
	});

	test("are whole with full, a new one too", () => {
		expect(show(makePlan([grown], state), "full")).toContain("line 99");
		expect(show(makePlan([grown], null), "full")).toContain("+line 99");
		expect(show(makePlan([grown], null), "fold")).not.toContain("+line 0");
	});

	test("are not compared with a text that is not known", () => {
		const adopted = makeState({ gsm8k: makeRun(makeDesired("gsm8k"), { status: "failed", rendered: {} }) });
		const text = show(makePlan([grown], adopted));
		expect(text).toContain("\n    job.sh   not compared: the text of the earlier job is not known\n");
		expect(text).not.toContain("+line 0");
		expect(show(makePlan([grown], adopted), "full")).toContain("+line 99");
		const same = makeState({ gsm8k: makeRun(makeDesired("gsm8k"), { rendered: {} }) });
		expect(show(makePlan([makeDesired("gsm8k")], same))).not.toContain("differs through an upgrade");
	});

	test("are hidden with none", () => {
		expect(show(makePlan([grown], state), "none")).not.toContain("line 0");
	});
});

describe("changes", () => {
	const withRun = (run: unknown) => {
		const document = new Map([...makeDocument("m"), ["driver", toValue({ benchmarks: { gsm8k: { run } } })]]);
		return makeDesired("gsm8k", { document });
	};
	const changeOf = (before: unknown, after: unknown) =>
		show(makePlan([withRun(after)], makeState({ gsm8k: makeRun(withRun(before), { status: "failed" }) })));

	test("of an added mapping are shown leaf by leaf", () => {
		const text = changeOf({}, { agent: { name: "x", "odd key": [1] } });
		expect(text).toMatch(/^-\/\+ driver\.benchmarks\.gsm8k$/m);
		expect(text).toMatch(/^ {6}run\.agent\.name +\(not set\) → "x"$/m);
		expect(text).toMatch(/^ {6}run\.agent\."odd key" +\(not set\) → \[1\]$/m);
	});

	test("of long values stand on two lines, whole", () => {
		const [a, b] = ["a".repeat(90), "b".repeat(90)];
		const text = changeOf({ prompt: a }, { prompt: b });
		expect(text).toContain(`        - "${a}"\n        + "${b}"\n`);
	});

	test("of texts with several lines are a diff of lines", () => {
		const text = changeOf({ prompt: "one\ntwo\n" }, { prompt: "one\n2\n" });
		expect(text).toMatch(/run\.prompt +text changed\n {8}@@ -1,2 \+1,2 @@\n {9}one\n {8}-two\n {8}\+2\n/);
	});

	test("of the order of services name both orders", () => {
		const [before, after] = [
			["a", "b"],
			["b", "a"],
		].map((names) =>
			makeDesired("gsm8k", {
				document: new Map([["services", new Map(names.map((name) => [name, new Map([["port", 1]])]))]]),
			}),
		) as [Desired, Desired];
		const text = show(makePlan([after], makeState({ gsm8k: makeRun(before, { status: "failed" }) })));
		expect(text).toMatch(/order +a, b → b, a +\(speed only\)/);
		expect(text).toContain("# math/gsm8k will be submitted  (speed only)");
	});

	test("cannot send control characters to the terminal", () => {
		const text = changeOf({ prompt: "a" }, { prompt: "\u001b[2J\u009b\u202e" });
		expect(text).not.toMatch(/[\u001b\u009b\u202e]/);
		expect(text).toContain("\\u001b[2J");
	});
});

test("a refused action shows what would change, why not, and the way out", () => {
	const text = show(makePlan([changed], makeState({ gsm8k: makeRun(makeDesired("gsm8k")) })));
	expect(text).toContain("# math/gsm8k cannot be submitted now\n");
	expect(text).toContain('"acme/talker-8b" → "acme/talker-32b"');
	expect(text).toContain(
		"refused[live-chain]  math/gsm8k has changed while its run is live (job 88123, running)",
	);
	expect(text).toContain("gym cancel math/gsm8k first");
	expect(text).toContain("0 to resubmit, 0 to resume, 0 to cancel. 1 refused");
	expect(text).not.toContain("GPU-hours");
});

test("a refused resume says that it cannot be resumed, and a cancel that it cannot be cancelled", () => {
	const one = makeDesired("gsm8k");
	const done = makeState({ gsm8k: makeRun(one, { status: "succeeded" }) });
	const actions = decide([one], done, {
		stack: "math",
		replace: [],
		resume: ["math/gsm8k"],
		user: "alice",
	});
	const text = show(makePlan([one], done, { actions }));
	expect(text).toContain("# math/gsm8k cannot be resumed now\n");
	expect(text).not.toContain("cache");
	const bobs = makeState({ old: makeRun(one, { submittedBy: "bob" }) });
	expect(show(makePlan([], bobs))).toContain("# math/old cannot be cancelled now\n");
});

test("what a plan shows as refused is only counted among the errors", () => {
	const plan = makePlan([changed], makeState({ gsm8k: makeRun(makeDesired("gsm8k")) }));
	const { refused } = plan.actions[0]!;
	const other = { code: "no-sbatch", severity: "error" as const, at: "", message: "sbatch is not on PATH" };
	let [out, err] = ["", ""];
	const paint = paintFor(0);
	const sink = { out: (text: string) => (out += text), err: (text: string) => (err += text) };
	const view = humanView(sink, { paint, errorPaint: paint, showJob: "fold", clock: String });
	view.plan(plan);
	view.problems({ problems: [other, refused!], exit: "refused", aftermath: "unknown" });
	expect(out).toContain("refused[live-chain]");
	expect(out).toMatch(/ {2}gymfile\.ts:20$/m);
	expect(err).not.toContain("live-chain");
	expect(err).toMatch(/^error\[no-sbatch\] .*\n\n2 errors\. +exit 4\n$/);
});

test("an unfinished submission says what came of it", () => {
	const of = (status: "refused" | "held" | "submitting") =>
		show(makePlan([makeDesired("gsm8k")], makeState({ gsm8k: makeRun(makeDesired("gsm8k"), { status }) })));
	expect(of("refused")).toContain("will be submitted  (it was refused before)");
	expect(of("held")).toContain("will be submitted  (its job was left held and will be released)");
	expect(of("submitting")).toContain("will be submitted  (an earlier apply did not get to its end)");
});

describe("no changes", () => {
	const same = makeDesired("gsm8k");

	test("say what is so in one line, and nothing about work", () => {
		const lines = show(makePlan([same], makeState({ gsm8k: makeRun(same, { progress: PROGRESS }) }))).split(
			"\n",
		);
		expect(lines.slice(2)).toEqual(["No changes. math/gsm8k (running, 312/1,000 rollouts)", ""]);
	});

	test("of an empty stack", () => {
		expect(show(makePlan([], makeState({})))).toContain("No changes. Stack math has no benchmarks");
	});

	test("after an upgrade name the script that differs", () => {
		const upgraded = { ...same, rendered: { "job.sh": "other\n" } };
		const text = show(makePlan([upgraded], makeState({ gsm8k: makeRun(same) })));
		expect(text).toContain("No changes. math/gsm8k (running)");
		expect(text).toContain("The job script of math/gsm8k differs through an upgrade");
	});

	test("name the first few of many", () => {
		const desired = Array.from({ length: 10 }, (_, i) => makeDesired(`b${i}`));
		const runs = Object.fromEntries(desired.map((one) => [one.benchmark, makeRun(one)]));
		const text = show(makePlan(desired, makeState(runs)));
		expect(text).toContain("math/b7 (running) and 2 more");
		expect(text.split("\n").every((line) => columns(line) <= 100)).toBe(true);
	});
});

test("a plan of which everything was left out does not say that there is nothing", () => {
	const text = planText(makePlan([], null, { leftOut: 3 }), { showJob: "fold", paint: paintFor(0) });
	expect(text).toContain("leave out all of stack math (3 benchmarks)");
	expect(text).not.toContain("no benchmarks");
});

test("drift stands in columns, whatever the names", () => {
	const drift = ["math/a", "math/a-benchmark-with-a-long-name"].map((address) => ({
		address,
		from: "pending" as const,
		to: "running" as const,
		message: "job 1 is running",
	}));
	const text = planText(makePlan([], null, { drift }), { showJob: "fold", paint: paintFor(0) });
	const places = text
		.split("\n")
		.filter((line) => line.includes("job 1"))
		.map((line) => line.indexOf("job 1"));
	expect(places).toEqual([37, 37]);
});
