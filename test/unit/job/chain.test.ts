import { describe, expect, test } from "vitest";
import { type RunOptions, runJob } from "../../property/run-script.ts";
import { job, map } from "./document.ts";

const resumable = (limits: object = {}) =>
	job({ benchmark: { run: map({ split: "dev" }), resumable: map(limits) } });
type Ran = Awaited<ReturnType<typeof runJob>>;
const end = (ran: Ran) => ran.file("ends/77")!.trim();
const events = (ran: Ran) =>
	ran
		.file("chain.jsonl")!
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));
const decision = (ran: Ran) => events(ran).find(({ event }) => event === "previous");
const worked = (ran: Ran) => ran.args("gym-run") !== null;

/** A segment that follows job 70, of which the controller says `state`. */
const after = (state: string, options: RunOptions = {}, limits: object = {}) =>
	runJob(resumable(limits), {
		previous: "70",
		...options,
		env: { JOB_STATE: state, QUEUE_SAYS: "78", ...options.env },
	});

describe("how the predecessor ended decides", () => {
	test.each(["COMPLETED", "CANCELLED"])("%s ends the chain", async (state) => {
		const ran = await after(state);
		expect([ran.code, worked(ran), ran.submits]).toEqual([0, false, 0]);
		expect(end(ran)).toMatch(/^exit=0 why=over /);
	});

	test.each(["TIMEOUT", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL"])("%s spends no retry", async (state) => {
		const ran = await after(state, { files: { ".gym_infra_retries": "3" } });
		expect(worked(ran)).toBe(true);
		expect(ran.file(".gym_infra_retries")).toBe("3\n");
		expect(decision(ran)).toMatchObject({ previous: "70", state, retries: 3, decision: "resume" });
	});

	test.each(["FAILED", "OUT_OF_MEMORY", "DEADLINE", "A_NEW_WORD"])("%s spends one", async (state) => {
		const ran = await after(state, { files: { ".gym_infra_retries": "1" } });
		expect(worked(ran)).toBe(true);
		expect(ran.file(".gym_infra_retries")).toBe("2\n");
	});

	test("the last retry spent ends it as a failure", async () => {
		const ran = await after("FAILED", { files: { ".gym_infra_retries": "2" } }, { max_retries: 2 });
		expect([ran.code, worked(ran), ran.submits]).toEqual([1, false, 0]);
		expect(end(ran)).toMatch(/^exit=1 why=retries /);
	});

	test.each([
		["exit=0 why=finished at=1 elapsed=5 name=", "TIMEOUT", "COMPLETED", "over"],
		["exit=0 why=stopped at=1 elapsed=5 name=", "COMPLETED", "CANCELLED", "over"],
		["exit=85 why=timeout at=1 elapsed=5 name=", "FAILED", "TIMEOUT", "resume"],
		["exit=143 why=terminated at=1 elapsed=5 name=", "PREEMPTED", "PREEMPTED", "resume"],
		["exit=143 why=terminated at=1 elapsed=5 name=", "CANCELLED", "CANCELLED", "over"],
		["exit=1 why=service at=1 elapsed=5 name=s", "NODE_FAIL", "NODE_FAIL", "resume"],
		["exit=1 why=service at=1 elapsed=5 name=s", "COMPLETED", "FAILED", "resume"],
	])("its end record %s with the scheduler's %s means %s", async (record, said, state, then) => {
		const ran = await after(said, { files: { "ends/70": `${record}\n` } });
		expect(decision(ran)).toMatchObject({ state, decision: then, elapsed: 5 });
		expect(ran.file(".gym_infra_retries")).toBe(state === "FAILED" ? "1\n" : null);
	});

	test("what only the accounting knows counts, a job that it calls running is waited for", async () => {
		const ran = await after("", { env: { JOB_STATE: "", ACCOUNTED: "TIMEOUT|3700" } });
		expect(decision(ran)).toMatchObject({ state: "TIMEOUT", elapsed: 3700, walltime: 3700 });
	});

	test("when nobody knows, it goes on without a retry", async () => {
		const ran = await after("", { env: { JOB_STATE: "", ACCOUNTING_EXIT: "1" } });
		expect(decision(ran)).toMatchObject({ state: "unknown", elapsed: null, retries: 0, decision: "resume" });
	});
});

describe("damaged files", () => {
	test("without its limits a chain does not fail for ever", async () => {
		const ran = await after("FAILED", { files: { "budget.json": "" } });
		expect([ran.code, worked(ran)]).toEqual([1, false]);
		expect(end(ran)).toMatch(/^exit=1 why=retries /);
		expect(worked(await after("TIMEOUT", { files: { "budget.json": "" } }))).toBe(true);
	});

	test("a chain that cannot write down what it counts does not go on", async () => {
		const ran = await after("FAILED", { files: { ".gym_infra_retries.new/in-the-way": "" } });
		expect([ran.code, worked(ran), ran.submits]).toEqual([74, false, 0]);
		expect(end(ran)).toMatch(/^exit=74 why=disk /);
	});

	test.each(["", "-1", "many", "9".repeat(20)])("a counter of %j is none", async (text) => {
		const ran = await after("FAILED", { files: { ".gym_infra_retries": text } });
		expect(ran.file(".gym_infra_retries")).toBe("1\n");
	});
});

describe("the cap on the time of all segments", () => {
	test.each([
		["TIMEOUT", "3500", "00:01:39", true],
		["TIMEOUT", "3500", "00:01:40", false],
		["FAILED", "0", "1-00:00:00", false],
		["unknown", "3600", "", false],
	])("after %s with %s s before and %s", async (state, before, time, goesOn) => {
		const env = { JOB_STATE: state === "unknown" ? "" : state, JOB_TIME: time, ACCOUNTING_EXIT: "1" };
		const ran = await after(
			state,
			{ files: { ".gym_accumulated_walltime": before }, env },
			{ max_walltime: "1:00:00" },
		);
		expect(worked(ran)).toBe(goesOn);
		if (!goesOn) expect(end(ran)).toMatch(/^exit=0 why=cap /);
	});

	test("is read anew by every segment", async () => {
		const files = {
			".gym_accumulated_walltime": "3600",
			"budget.json": '{"max_retries":3,"max_walltime":9000}',
		};
		expect(worked(await after("TIMEOUT", { files }, { max_walltime: "1:00:00" }))).toBe(true);
	});
});

describe("no progress", () => {
	// What `find | sort | md5sum` says of no files at all.
	const nothing = "d41d8cd98f00b204e9800998ecf8427e  -\n";
	const idle = { "progress/70": nothing, "orders/70": "run\n", ".gym_idle_timeouts": "2" };

	test("three time limits in a row without any end the chain", async () => {
		const ran = await after("TIMEOUT", { files: idle });
		expect([ran.code, worked(ran)]).toEqual([0, false]);
		expect(end(ran)).toMatch(/^exit=0 why=no-progress /);
	});

	test.each([
		["a rollout was added", "TIMEOUT", { ...idle, "artifacts/rollouts.jsonl": "{}\n" }, "0\n"],
		["a model call was captured", "TIMEOUT", { ...idle, "model-calls/1.json": "{}" }, "0\n"],
		["its run never began", "TIMEOUT", { ...idle, "orders/70": "" }, "2\n"],
		["it was preempted", "PREEMPTED", idle, "2\n"],
		["a node failed", "NODE_FAIL", idle, "2\n"],
	])("%s: goes on", async (_, state, files, count) => {
		const ran = await after(state, { files });
		expect(worked(ran)).toBe(true);
		expect(ran.file(".gym_idle_timeouts")).toBe(count);
	});

	test("cannot be seen where the user writes elsewhere", () => {
		const elsewhere = job({
			benchmark: { run: map({ output_jsonl_fpath: "/elsewhere.jsonl" }), resumable: true },
		});
		expect(elsewhere.chain?.noProgress).toBeNull();
	});
});

describe("two segments after one predecessor", () => {
	test("the one that comes second does nothing and queues nothing", async () => {
		const ran = await after("TIMEOUT", { files: { "claims/70/76": "" } });
		expect([ran.code, worked(ran), ran.submits]).toEqual([0, false, 0]);
		expect(end(ran)).toMatch(/^exit=0 why=claimed /);
		expect(ran.file(".gym_accumulated_walltime")).toBeNull();
	});
});

describe("the successor", () => {
	test("is queued before the work, after this job, and taken back after success", async () => {
		const ran = await runJob(resumable(), { env: { QUEUE_SAYS: "78", SBATCH_PARTITION: "other" } });
		expect(ran.args("sbatch")).toEqual([
			"--parsable",
			expect.stringMatching(/^--chdir=.*\/sums$/),
			"--dependency=afternotok:77",
			"--kill-on-invalid-dep=yes",
			expect.stringMatching(/\/sums\/job\.sh$/),
			"77",
		]);
		expect(ran.env("sbatch").has("SBATCH_PARTITION")).toBe(false);
		expect(events(ran).map(({ event }) => event)).toEqual(["start", "next", "run", "end"]);
		expect(ran.cancels).toContain("78");
	});

	test.each([
		["78;cluster", "78"],
		["Submitted batch job 78 on cluster c1", "78"],
		["a notice: 12 jobs\n78\r", "78"],
	])("is read from what sbatch says: %s", async (says, id) => {
		const ran = await runJob(resumable(), { env: { QUEUE_SAYS: says } });
		expect(events(ran).find(({ event }) => event === "next")).toMatchObject({ next: id });
	});

	test("stays after a failure, with the values of secrets", async () => {
		const secret = job({
			benchmark: { run: map({}), resumable: true },
			driver: { env: map({ TOKEN: "host:TOKEN" }) },
		});
		const host = new Map([["TOKEN", "s3cret"]]);
		const ran = await runJob(secret, { host, env: { QUEUE_SAYS: "78", GYM_EXIT: "3" } });
		expect(ran.code).toBe(3);
		expect(ran.cancels).not.toContain("78");
		expect(ran.file(".env")).toContain("s3cret");
		const done = await runJob(secret, { host, env: { QUEUE_SAYS: "78" } });
		expect(done.file(".env")).toBeNull();
		const alone = await runJob(secret, { host, env: { GYM_EXIT: "3" } });
		expect(alone.file(".env")).toBeNull();
	});

	test("that cannot be queued is tried again at the end, and the job works on", async () => {
		const ran = await runJob(resumable(), { env: { GYM_EXIT: "3" } });
		expect(ran.submits).toBe(2);
		expect([ran.code, worked(ran)]).toEqual([3, true]);
		expect(events(ran).find(({ event }) => event === "next")).toMatchObject({ next: null });
		expect(ran.stderr).toContain("no further job could be queued");
	});

	test("is queued at the warning when it could not be before", async () => {
		const ran = await runJob(resumable(), {
			env: { GYM_WAIT: "1" },
			whenRunning: (pid) => process.kill(pid, "SIGUSR1"),
		});
		expect(ran.code).toBe(85);
		expect(ran.submits).toBe(3);
	});

	test("that is queued behind a lost answer is found, not queued again", async () => {
		const ran = await runJob(resumable(), { env: { GYM_EXIT: "3", QUEUED: "80|PENDING|@\n77|RUNNING|@" } });
		expect(ran.submits).toBe(1);
		expect(events(ran).filter(({ event }) => event === "next")).toMatchObject([
			{ next: null },
			{ next: "80" },
		]);
	});

	test("of a job that was started again is the one of its first start", async () => {
		const ran = await after("TIMEOUT", {
			env: { SLURM_RESTART_COUNT: "2", QUEUED: "80|PENDING|@" },
			files: { "claims/70/77": "", "progress/77": "" },
		});
		expect([ran.submits, worked(ran)]).toEqual([0, true]);
		expect(decision(ran)).toBeUndefined();
		expect(ran.cancels).toContain("80");
	});

	test("of a job that was started again follows, and knows nothing of that restart", async () => {
		const env = { SLURM_RESTART_COUNT: "1", QUEUE_SAYS: "78" };
		const ran = await after("TIMEOUT", { env });
		expect(decision(ran)).toMatchObject({ previous: "70", decision: "resume" });
		expect(ran.env("sbatch").has("SLURM_RESTART_COUNT")).toBe(false);
	});

	test("is taken back when the stop mark comes while it is queued", async () => {
		const sbatch = { QUEUE_SAYS: "78", STOP_MEANWHILE: "1" };
		const ran = await runJob(resumable(), { env: sbatch, files: { control: "" } });
		expect(worked(ran)).toBe(false);
		expect(end(ran)).toMatch(/^exit=0 why=stopped /);
		expect(ran.cancels).toContain("78");
	});
});

describe("gym resume", () => {
	test("goes on whatever ended that one job, but not beyond the cap", async () => {
		const files = { control: "go-on 70\n", ".gym_infra_retries": "4" };
		const ran = await after("CANCELLED", { files });
		expect(worked(ran)).toBe(true);
		expect(decision(ran)).toMatchObject({ retries: 4, walltime: 100, decision: "resume" });
		const capped = await after("CANCELLED", { files }, { max_walltime: "00:01:00" });
		expect(end(capped)).toMatch(/^exit=0 why=cap /);
		expect(worked(await after("CANCELLED", { files: { control: "go-on 7\n" } }))).toBe(false);
	});
});

test("files of another user are not obeyed", async () => {
	// Root may give a file away; a user cannot, and has nothing to test here.
	if (process.getuid?.() !== 0) return;
	const ran = await runJob(resumable(), {
		files: { ".gym_infra_retries": "0" },
		foreign: ".gym_infra_retries",
	});
	expect(ran.code).toBe(74);
	expect(end(ran)).toMatch(/^exit=74 why=owner /);
	// Each successor would end in the same way, and queue one more.
	expect(ran.submits).toBe(0);
});
