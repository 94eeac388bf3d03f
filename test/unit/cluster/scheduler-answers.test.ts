/**
 * What public bug reports of tools like ours say schedulers answer, and what we make of it. The ids are those of the
 * collection that the tests were made from: I answers of sbatch, S status and accounting, C causes of an end,
 * X cancel, L limits, names and times.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { observeState } from "../../../src/apply/observe.ts";
import { quote } from "../../../src/job/script/quote.ts";
import type { RunRecord } from "../../../state/document.ts";
import { makeDesired, makePlan, makeRun, makeSegment, makeState } from "../plan/runs.ts";
import { slurm as compute, findings, validate } from "../submit/document.ts";
import { type FakeSlurm, fakeSlurm, schedulerOn, USER } from "./fake-slurm.ts";
import { look, queryFor } from "./observe-run.ts";
import { ids, submission, submit } from "./submit-run.ts";

let slurm: FakeSlurm;
let runDir: string;
beforeEach(async () => {
	slurm = await fakeSlurm();
	runDir = join(slurm.folder, "out/gym-job-1");
});

const NAMES = Array.from({ length: 12 }, (_, n) => `bench${n}`);

/** Bash text for a program: it says this and ends well. */
const says = (text: string) => `printf '%s\n' ${quote(text)}; exit 0`;

describe("answers of sbatch", () => {
	test.each([
		["I1", "Submitted batch job 39 on cluster c1\n", "39", "c1"],
		["I1", "39;c1\n", "39", "c1"],
		["I3", "No partition given: using batch\n39\n", "39", null],
		["I3", "No partition given: using batch\n39;c1\nHave a nice day 2 you\n", "39", "c1"],
		["I5", "4711\n", "4711", null],
		["I5", "4711 \r\n", "4711", null],
	])("%s: %j is job %s on %s", async (_, stdout, jobId, cluster) => {
		await writeFile(join(slurm.folder, "said"), stdout);
		await slurm.on("sbatch", `id=${jobId}; cat ${slurm.folder}/said; exit 0`);
		const { jobs } = await submit(slurm);
		expect(jobs).toMatchObject([{ jobId, cluster, error: null }]);
	});

	test("I1: a job of a named cluster is released and cancelled there, by its id there", async () => {
		await slurm.on("sbatch", 'queue; echo "$id;c1"; exit 0');
		// Only c1 knows the job; an answer for another cluster is empty.
		await slurm.on("squeue", '[[ $* == *"-M c1"* ]] || exit 0');
		await slurm.on("scontrol", "[[ $1 == -M ]] && shift 2");
		await slurm.on("scancel", "[[ $1 == -M ]] && shift 2");
		const { jobs } = await submit(slurm);
		const id = jobs[0]!.jobId!;
		expect(await slurm.calls("scontrol")).toEqual([`-M c1 release ${id}`]);
		expect(jobs).toMatchObject([{ state: "PENDING", reason: "Priority", cluster: "c1" }]);
		const dir = (await slurm.jobs())[0]!.dir;
		const { cancelled, left } = await schedulerOn(slurm).cancel([dir]);
		expect([cancelled.get(dir), left]).toEqual([[id], []]);
		expect(await slurm.calls("scancel")).toEqual([`-M c1 ${id}`]);
	});

	test("I1: a job of a named cluster that is on no record is found, released, and its double cancelled there", async () => {
		const dir = `${runDir}/gsm8k`;
		await mkdir(runDir, { recursive: true });
		await writeFile(join(runDir, "submit.ids"), "aime\t90\tc1\n");
		for (const id of [95, 96]) {
			await slurm.add({ id, state: "PENDING", reason: "JobHeldUser", user: USER, dir });
		}
		await slurm.on("squeue", '[[ $* == *"-M c1"* ]] || exit 0');
		await slurm.on("scontrol", "[[ $1 == -M ]] && shift 2");
		await slurm.on("scancel", "[[ $1 == -M ]] && shift 2");
		const { jobs } = await submit(slurm);
		expect(jobs).toMatchObject([{ jobId: "95", cluster: "c1", reason: "Priority" }]);
		expect(await slurm.calls("sbatch")).toEqual([]);
		expect(await slurm.calls("scontrol")).toEqual(["-M c1 release 95"]);
		expect(await slurm.calls("scancel")).toEqual(["-M c1 96"]);
	});

	test("I3: a notice on stderr is no part of the answer", async () => {
		await slurm.on("sbatch", "echo 'sbatch: 17 of 20 jobs left' >&2; echo 39; exit 0");
		expect(await ids(slurm)).toEqual({ gsm8k: "39" });
	});

	test("I7: of a burst every third call is refused once; each is queued once, after a pause", async () => {
		await slurm.on(
			"sbatch",
			"((nth > 1 || count % 3)) || { echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1; }",
		);
		const found = await ids(slurm, { jobs: NAMES });
		expect(Object.keys(found)).toEqual(NAMES);
		expect(new Set(Object.values(found)).size).toBe(12);
		expect((await slurm.jobs()).map(({ dir }) => dir).sort()).toEqual(
			NAMES.map((name) => `${runDir}/${name}`).sort(),
		);
		expect((await slurm.calls("sleep")).length).toBeGreaterThan(0);
	});

	test("I7: a controller that stays busy is given up after a bounded number of tries", async () => {
		await slurm.on("sbatch", "echo 'sbatch: error: Socket timed out on send/recv operation' >&2; exit 1");
		expect(await ids(slurm)).toEqual({ gsm8k: null });
		expect(await slurm.calls("sbatch")).toHaveLength(4);
	});

	test("I8: ids are bound by name, and the refused one has Slurm's words", async () => {
		await slurm.on(
			"sbatch",
			"[[ $name != two ]] || { echo 'sbatch: error: Invalid account or account/partition combination specified' >&2; exit 1; }",
		);
		const { jobs } = await submit(slurm, { jobs: ["one", "two", "three"] });
		const dirs = new Map((await slurm.jobs()).map(({ id, dir }) => [String(id), dir]));
		expect(jobs.map(({ jobId }) => jobId && dirs.get(jobId))).toEqual([
			`${runDir}/one`,
			null,
			`${runDir}/three`,
		]);
		expect(jobs[1]!.error).toContain("Invalid account");
	});
});

/** A run whose job 17 was running when last seen. */
const before = (more: Partial<RunRecord> = {}): RunRecord => ({
	...makeRun(makeDesired("gsm8k"), {
		submittedBy: USER,
		segments: [makeSegment("17", { state: "RUNNING", startedAt: 1_700_000_000 })],
	}),
	runDir,
	jobDir: `${runDir}/gsm8k`,
	...more,
});

/** The run after a look at the stand-ins. */
async function seen(run: RunRecord = before(), shell = ""): Promise<RunRecord> {
	const { state } = await observeState(makeState({ gsm8k: run }), schedulerOn(slurm, shell), null);
	return state.benchmarks.get("gsm8k")!.current!;
}

/** A line of sacct about job 17; times are epoch seconds unless given. */
function accounted(
	state: string,
	more: { exit?: string; elapsed?: number; times?: string; dir?: string } = {},
) {
	const { exit = "0:0", elapsed = 60, times = "1700000000|1700000000|1700000060" } = more;
	return `17|${state}|${exit}|${elapsed}|${times}|node1|${USER}|lab|${more.dir ?? `${runDir}/gsm8k`}`;
}

const queued = (state: string, reason = "None", dir = `${runDir}/gsm8k`) =>
	slurm.add({ id: 17, state, reason, user: USER, dir });

describe("status and accounting", () => {
	test("S1: a job of yesterday is found: sacct is always given a start time", async () => {
		await slurm.on("sacct", `[[ " $* " == *' -S 20'[0-9][0-9]-* ]] || exit 0; ${says(accounted("TIMEOUT"))}`);
		expect((await seen()).status).toBe("timeout");
	});

	test("S3: a state with words behind it", async () => {
		await slurm.on("sacct", says(accounted("CANCELLED by 1000", { exit: "0:15" })));
		expect(await seen()).toMatchObject({ status: "cancelled", note: expect.stringContaining("uid 1000") });
	});

	test("S6: while squeue fails nothing changes and nothing is submitted", async () => {
		await queued("RUNNING");
		await slurm.on("squeue", "exit 1");
		const during = await seen();
		expect(during.status).toBe("running");
		expect(
			makePlan([makeDesired("gsm8k")], makeState({ gsm8k: during }), { user: USER }).actions,
		).toMatchObject([{ kind: "none" }]);
		await slurm.on("squeue", "");
		expect((await seen(during)).status).toBe("running");
	});

	test("S9: a pipe in the work directory shifts no column, in queue and accounting", async () => {
		const dir = join(slurm.folder, "a|b|c/gym-job-1/gsm8k");
		const run = before({ runDir: join(dir, ".."), jobDir: dir });
		await queued("SUSPENDED", "None", dir);
		expect((await seen(run)).status).toBe("running");
		await slurm.on("squeue", "exit 0");
		await slurm.on("sacct", says(accounted("OUT_OF_MEMORY", { exit: "0:125", dir })));
		expect(await seen(run)).toMatchObject({
			status: "failed",
			note: expect.stringContaining("OUT_OF_MEMORY"),
		});
	});

	test("S10: no option is newer than Slurm 20.11", async () => {
		const known: Readonly<Record<string, RegExp>> = {
			squeue: /^(-h|-a|-t all|-u \S+|-o \S+|-M \S+)$/,
			sacct: /^(-X|-n|-P|-S \S+|-j \S+|-o [a-z,]+|-M \S+)$/,
			scontrol: /^-(a|o|M \S+)$/,
			sinfo: /^(-a|-h|-N|-o \S+)$/,
			sacctmgr: /^-nP$/,
			sbatch: /^(-H|--parsable|--chdir=\S+)$/,
		};
		await slurm.on("sacct", "exit 0");
		await slurm.on("sbatch", 'queue; echo "$id;c1"; exit 0');
		await submit(slurm);
		await look(slurm, [queryFor(runDir, "gsm8k")], { outputPath: slurm.folder, mountSources: [] });
		expect(await slurm.calls("squeue")).toContainEqual(expect.stringContaining("-M c1"));
		for (const [program, options] of Object.entries(known)) {
			const calls = await slurm.calls(program);
			expect(calls.length, program).toBeGreaterThan(0);
			const given = calls.flatMap((call) => call.match(/(?<=^| )-\S+( (?!-)[^ ]+)?/g) ?? []);
			for (const option of given) {
				const [name] = option.split(" ");
				expect(options.test(option) || options.test(name!), `${program} ${option}`).toBe(true);
			}
		}
	});

	test("S11: times without a zone are those of the cluster", async () => {
		const times = "2023-11-15T07:13:20|2023-11-15T07:13:20|2023-11-15T07:14:20";
		await slurm.on("sacct", says(accounted("FAILED", { exit: "1:0", times })));
		const { segments } = await seen(before({ segments: [makeSegment("17")] }), "export TZ=JST-9");
		expect(segments[0]).toMatchObject({ startedAt: 1_700_000_000, endedAt: 1_700_000_060, elapsed: 60 });
	});

	test("S13: cancelled by hand: the plan asks, and would do nothing by itself", async () => {
		await queued("CANCELLED");
		await slurm.on("sacct", says(accounted("CANCELLED by 1000")));
		const run = await seen();
		expect(run).toMatchObject({ status: "cancelled", note: expect.stringContaining("not with gym cancel") });
		const { actions } = makePlan([makeDesired("gsm8k")], makeState({ gsm8k: run }), { user: USER });
		expect(actions).toMatchObject([{ kind: "decide", reason: "cancelled" }]);
	});
});

describe("causes of an end", () => {
	test.each([
		["C1", "TIMEOUT", "0:15", "timeout"],
		["C1", "TIMEOUT", "143:0", "timeout"],
		["C1", "FAILED", "0:9", "failed"],
		["C1", "PREEMPTED", "0:10", "preempted"],
		["C1", "CANCELLED by 1000", "0:15", "cancelled"],
		["C12", "PREEMPTED", "0:0", "preempted"],
		["C8", "NODE_FAIL", "0:0", "node-fail"],
	])("%s: %s %s is %s, whichever signal came first", async (_, state, exit, status) => {
		await slurm.on("sacct", says(accounted(state, { exit })));
		expect((await seen()).status).toBe(status);
	});

	test("C8: a node that fails before the job starts leaves no log, and none is missed", async () => {
		const times = "1700000000|Unknown|1700000001";
		await slurm.on("sacct", says(accounted("NODE_FAIL", { elapsed: 0, times })));
		const run = await seen(before({ segments: [makeSegment("17")] }));
		expect(run).toMatchObject({ status: "node-fail", segments: [{ startedAt: null, elapsed: 0 }] });
	});
});

describe("cancel", () => {
	test("X6: only cancel kills: looks leave jobs alone", async () => {
		await queued("RUNNING");
		await seen();
		expect(await slurm.calls("scancel")).toEqual([]);
		expect(await slurm.jobs()).toMatchObject([{ state: "RUNNING" }]);
	});

	test("X6: a client that is gone takes no job with it, and none stays held", async () => {
		await expect(submit(slurm, {}, "exec >&-")).rejects.toThrow(); // nobody is there to hear the answer
		expect(await slurm.jobs()).toMatchObject([{ state: "PENDING", reason: "Priority" }]);
		expect(await slurm.calls("scancel")).toEqual([]);
	});
});

describe("limits, names and times", () => {
	test("L1: a submit limit that other jobs share: what fits is queued, a later apply brings the rest", async () => {
		const jobs = NAMES.slice(0, 5);
		await slurm.add({ id: 1, state: "RUNNING", reason: "None", user: USER, dir: "/somebody/elses" });
		await slurm.on(
			"sbatch",
			`(($(grep -cE 'PENDING|RUNNING' "$FAKE/queue") < 3)) || { echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2; exit 1; }`,
		);
		const first = await submit(slurm, { jobs });
		expect(first.jobs.map(({ jobId }) => jobId !== null)).toEqual([true, true, false, false, false]);
		expect(first.jobs[4]!.error).toContain("AssocMaxSubmitJobLimit");
		await slurm.on("sbatch", "");
		const second = await submit(slurm, { jobs });
		expect(second.jobs.slice(0, 2).map(({ jobId }) => jobId)).toEqual(
			first.jobs.slice(0, 2).map(({ jobId }) => jobId),
		);
		const dirs = (await slurm.jobs()).slice(1).map(({ dir }) => dir);
		expect(dirs.sort()).toEqual(jobs.map((name) => `${submission(slurm).runDir}/${name}`));
	});

	test("L7: a comment has 1,024 bytes at most", () => {
		const comment = (text: string) => findings({ compute: compute(`extra_args: {comment: ${text}}`) });
		expect(comment("x".repeat(1024)).filter((one) => one.startsWith("error"))).toEqual([]);
		expect(comment("x".repeat(1025))).toContain("error comment-too-long compute.lab.extra_args.comment");
		expect(comment("ü".repeat(513))).toContain("error comment-too-long compute.lab.extra_args.comment");
	});

	test.each([
		["L9", "3-0:00", []],
		["L9", "3-00", []],
		["L9", "90", []],
		["L9", "90:00", ["90 minutes"]],
		["L11", "48:00", ["48 minutes"]],
		["L11", "48:00:00", []],
	])("%s: a walltime of %s is read aloud where it may be meant otherwise", (_, walltime, read) => {
		const { problems } = validate({ compute: compute(`walltime: '${walltime}'`) });
		const notes = problems.filter(({ code }) => code === "minutes-and-seconds");
		expect(notes.map(({ message }) => /read as (.*)$/.exec(message)?.[1])).toEqual(read);
	});
});
