/** What the cluster is asked for when a chain goes on, and when a live one takes up new limits. */
import { describe, expect, test } from "vitest";
import { withCurrent } from "../../../src/apply/record.ts";
import { intentOf, submissionOf } from "../../../src/apply/submission.ts";
import { updateRuns } from "../../../src/apply/update.ts";
import type { JobUpdate, Scheduler, UpdateOutcome } from "../../../src/cluster/scheduler.ts";
import { decide } from "../../../src/plan/decide.ts";
import { type DesiredJob, desiredJobs } from "../../../src/plan/desired.ts";
import type { GoOn } from "../../../src/plan/plan.ts";
import { emptyState, type RunRecord, type Segment, type StateDocument } from "../../../state/document.ts";
import { config, map } from "../job/document.ts";
import { makeSegment } from "../plan/runs.ts";

const RUN_DIR = "/lake/evals/run-1";
const NAME = "sums";
const cluster = { type: "slurm", name: "north", hostname: null, outputPath: "/lake/evals" } as const;

function wanted(resumable: object | false = { max_retries: 3, max_walltime: null }, compute: object = {}) {
	return config({ benchmark: { run: map({}), resumable: resumable && map(resumable) }, compute });
}

function desiredOf(one: ReturnType<typeof wanted>, noProgressLimit?: number | null): DesiredJob {
	const lifecycle =
		noProgressLimit === undefined
			? {}
			: { lifecycle: new Map([[NAME, { onChange: "refuse" as const, noProgressLimit }]]) };
	const { desired, problems } = desiredJobs(one, { stack: "lab", toolVersion: "1.2.3", ...lifecycle });
	expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
	return desired[0]!;
}

function stateOf(desired: DesiredJob, more: Partial<RunRecord>): StateDocument {
	const run = { ...intentOf(desired, RUN_DIR), submittedBy: "alice", ...more };
	return withCurrent({ ...emptyState("lab"), cluster }, NAME, run);
}

const ended: Segment = makeSegment("7", { startedAt: 1, endedAt: 61, state: "TIMEOUT" });

function request(segments: readonly Segment[], goOn?: GoOn, resumable?: object | false) {
	const one = wanted(resumable);
	const desired = desiredOf(one);
	const context = {
		toolVersion: "1.2.3",
		hostEnv: () => "value",
		forward: new Map(),
		goOn: new Map(goOn ? [[NAME, goOn]] : []),
	};
	return submissionOf(one, stateOf(desired, { segments }), [desired], RUN_DIR, context).jobs[0]!;
}

test("the limits of a chain are known from the intent on, so that a loss of its file is seen", () => {
	expect(intentOf(desiredOf(wanted({ max_retries: 2 })), RUN_DIR).chain).toEqual({
		retries: 0,
		walltime: 0,
		idle: 0,
		budget: { maxRetries: 2, maxWalltime: null, noProgress: 3 },
	});
	expect(intentOf(desiredOf(wanted(false)), RUN_DIR).chain).toBeNull();
});

describe("a job request", () => {
	test("of a chain that begins has no predecessor", () => {
		const { previous, resetCounters, files, knownIds } = request([]);
		expect({ previous, resetCounters, knownIds }).toEqual({
			previous: null,
			resetCounters: false,
			knownIds: [],
		});
		expect(files.get("control")!.text).toBe("");
		expect(JSON.parse(files.get("budget.json")!.text)).toEqual({
			max_retries: 3,
			max_walltime: null,
			no_progress: 3,
		});
	});

	test("names the job after which the chain goes on, and lets that one be judged", () => {
		const { previous, knownIds, files } = request([ended], { decided: false, resetCounters: false });
		expect({ previous, knownIds, control: files.get("control")!.text }).toEqual({
			previous: "7",
			knownIds: ["7"],
			control: "",
		});
	});

	test("goes on however that one ended when a person decided it", () => {
		const { resetCounters, files } = request([ended], { decided: true, resetCounters: true });
		expect(files.get("control")!.text).toBe("go-on 7\n");
		expect(resetCounters).toBe(true);
	});

	test("never names a job that only waits for what cannot come, and never takes it for its own", () => {
		const stuck = makeSegment("8", { state: "PENDING", endedAt: 90 });
		expect(request([ended, stuck])).toMatchObject({ previous: "7", knownIds: ["7", "8"] });
	});

	test("of a benchmark that is not resumable has no predecessor", () => {
		expect(request([ended], { decided: true, resetCounters: false }, false)).toMatchObject({
			previous: null,
		});
	});
});

test("the limit without progress comes from the lifecycle", () => {
	expect(desiredOf(wanted(), 7).limits).toMatchObject({ noProgress: 7 });
	expect(desiredOf(wanted(), null).limits).toMatchObject({ noProgress: null });
	expect(desiredOf(wanted()).limits).toMatchObject({ noProgress: 3 });
});

describe("an update in place", () => {
	async function update(
		before: ReturnType<typeof wanted>,
		after: ReturnType<typeof wanted>,
		run: Partial<RunRecord>,
		answer: Partial<UpdateOutcome> = {},
	) {
		const chain = { retries: 1, walltime: 9, idle: 0, budget: desiredOf(before).limits };
		const state = stateOf(desiredOf(before), {
			chain,
			segments: [makeSegment("7", { startedAt: 1 })],
			...run,
		});
		const desired = desiredOf(after);
		const actions = decide([desired], state, { stack: "lab", replace: [], user: "alice" });
		expect(actions).toMatchObject([{ kind: "update" }]);
		const asked: JobUpdate[] = [];
		const scheduler = {
			update: async (updates: readonly JobUpdate[]) => {
				asked.push(...updates);
				return updates.map(({ jobDir }) => ({ jobDir, jobIds: [], error: null, ...answer }));
			},
		} as unknown as Scheduler;
		const done = await updateRuns(actions, new Map([[NAME, desired]]), state, scheduler, "1.2.3");
		return {
			asked: asked[0]!,
			outcome: done.outcomes[0]!,
			run: done.state.benchmarks.get(NAME)!.current!,
			desired,
		};
	}

	const raised = { max_retries: 9, max_walltime: null };
	const longer = { walltime: "08:00:00", extra_args: map({ comment: "why not" }) };

	test("of limits rewrites what segments read, and is kept by the state", async () => {
		const { asked, outcome, run, desired } = await update(wanted(), wanted(raised), { status: "running" });
		expect([...asked.files.keys()].sort()).toEqual(["budget.json", "job.sh"]);
		expect(asked.files.get("budget.json")!.text).toContain('"max_retries":9');
		expect(asked.files.get("job.sh")!.text).toContain(`${RUN_DIR}/${NAME}`);
		expect(asked.queued).toEqual(new Map());
		expect(outcome).toEqual({ address: `lab/${NAME}`, jobIds: [], error: null });
		expect(run).toMatchObject({
			status: "running",
			fingerprint: desired.fingerprint,
			document: expect.stringContaining("max_retries: 9"),
		});
		expect(run.chain).toMatchObject({ retries: 1, walltime: 9, budget: { maxRetries: 9 } });
	});

	test("of walltime and comment tells what is queued, in Slurm's names", async () => {
		const { asked, run } = await update(
			wanted(),
			wanted(undefined, longer),
			{ status: "pending" },
			{ jobIds: ["7"] },
		);
		expect(asked.queued).toEqual(
			new Map([
				["TimeLimit", "08:00:00"],
				["Comment", "why not"],
			]),
		);
		expect(asked.files.get("job.sh")!.text).toContain("--time=08:00:00");
		expect(run.document).toContain("08:00:00");
	});

	test("that Slurm refused is not taken for done", async () => {
		const { outcome, run } = await update(
			wanted(),
			wanted(undefined, longer),
			{ status: "pending" },
			{ error: "denied" },
		);
		expect(outcome.error).toBe("denied");
		expect(run.document).not.toContain("08:00:00");
	});

	test("that came too late for a single job is not taken for done", async () => {
		const { outcome, run } = await update(wanted(false), wanted(false, longer), {
			status: "pending",
			chain: null,
		});
		expect(outcome.error).toContain("started meanwhile");
		expect(run.document).not.toContain("08:00:00");
	});
});
