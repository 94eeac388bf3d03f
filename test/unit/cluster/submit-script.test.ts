/** The submit exchange, run for real in bash against stand-ins for Slurm's programs: each job exactly once. */
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { cancelScript } from "../../../src/cluster/slurm/cancel-script.ts";
import { findScript, parseFound } from "../../../src/cluster/slurm/find-script.ts";
import { submitScript } from "../../../src/cluster/slurm/submit-script.ts";
import { noPoints } from "../../../src/points.ts";
import { CANCEL_POINTS, SUBMIT_POINTS } from "../../setup/points.ts";
import { type FakeSlurm, fakeSlurm, shellcheck, USER } from "./fake-slurm.ts";
import { ids, mode, record, submission, submit } from "./submit-run.ts";

let slurm: FakeSlurm;
beforeEach(async () => {
	slurm = await fakeSlurm();
});

const BUSY =
	"echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1";

describe("exactly once", () => {
	test("held at first, on record, then released", async () => {
		const { runDir } = submission(slurm);
		await slurm.on("scontrol", `cp '${runDir}/submit.ids' '${slurm.folder}/at-release'`);
		const { jobs, user } = await submit(slurm, { jobs: ["gsm8k", "aime"] });
		expect(user).toBe(USER);
		expect(await slurm.calls("sbatch")).toEqual([
			`-H --parsable --chdir=${runDir}/gsm8k ${runDir}/gsm8k/job.sh`,
			`-H --parsable --chdir=${runDir}/aime ${runDir}/aime/job.sh`,
		]);
		expect(await readFile(`${slurm.folder}/at-release`, "utf8")).toBe("gsm8k\t101\t\naime\t102\t\n");
		expect(await slurm.calls("scontrol")).toEqual(["release 101 102"]);
		expect(jobs[0]).toMatchObject({ state: "PENDING", reason: "Priority", submittedAt: 1_700_000_000 });
	});

	test("the same exchange again submits nothing, also when Slurm has forgotten the jobs", async () => {
		const wanted = { jobs: ["gsm8k", "aime"] };
		const first = await ids(slurm, wanted);
		expect(await ids(slurm, wanted)).toEqual(first);
		await writeFile(join(slurm.folder, "fake/queue"), "");
		expect(await ids(slurm, wanted)).toEqual(first);
		expect(await slurm.calls("sbatch")).toHaveLength(2);
		expect(await slurm.calls("scancel")).toEqual([]);
	});

	test("two exchanges at a time submit once", async () => {
		const both = await Promise.all([ids(slurm), ids(slurm)]);
		expect(both).toEqual([{ gsm8k: "101" }, { gsm8k: "101" }]);
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});

	test.each(SUBMIT_POINTS)("killed at %s, the next exchange goes on", async (point) => {
		const wanted = { jobs: ["gsm8k", "aime"] };
		const killed = await slurm.run(submitScript(submission(slurm, wanted), { ...noPoints, remote: point }));
		expect(killed.code).toBeNull();
		expect(await ids(slurm, wanted)).toEqual({ gsm8k: "101", aime: "102" });
		expect((await slurm.jobs()).map((one) => one.reason)).toEqual(["Priority", "Priority"]);
		expect((await record(submission(slurm).runDir)).benchmarks).toHaveLength(2);
	});

	test("a job that was queued although sbatch said it timed out is taken, not submitted again", async () => {
		await slurm.on("sbatch", `queue; ${BUSY}`);
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("sbatch")).toHaveLength(1);
		expect(await slurm.jobs()).toMatchObject([{ id: 101, reason: "Priority" }]);
		expect((await record(submission(slurm).runDir)).benchmarks).toMatchObject([
			{ job_id: "101", error: null },
		]);
	});

	test("a job that shows up late, when another was submitted: the lowest id stays, the other goes", async () => {
		const late = `101|PENDING|JobHeldUser|${USER}|${submission(slurm).runDir}/gsm8k`;
		await slurm.on(
			"sbatch",
			`((nth > 1)) || { echo 101 >"$FAKE/last"; ${BUSY}; }; queue; echo '${late}' >>"$FAKE/queue"; echo "$id"; exit 0`,
		);
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
		expect(await slurm.jobs()).toMatchObject([
			{ id: 102, state: "CANCELLED" },
			{ id: 101, state: "PENDING", reason: "Priority" },
		]);
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("sbatch")).toHaveLength(2);
	});

	test("a busy controller: every third call refused, all twelve are queued once", async () => {
		await slurm.on("sbatch", `((count % 3 || nth > 1)) || { ${BUSY}; }`);
		const names = Array.from({ length: 12 }, (_, index) => `bench${index}`);
		const found = await ids(slurm, { jobs: names });
		expect(new Set(Object.values(found)).size).toBe(12);
		expect(Object.keys(found).sort()).toEqual([...names].sort());
		const queued = await slurm.jobs();
		expect(queued).toHaveLength(12);
		for (const one of queued) expect(found[one.dir.split("/").at(-1)!]).toBe(String(one.id));
	});

	test("a controller that stays busy is asked a few times, then its words are shown", async () => {
		await slurm.on("sbatch", BUSY);
		const { jobs } = await submit(slurm);
		expect(jobs[0]!.error).toContain("Socket timed out");
		expect((await slurm.calls("sbatch")).length).toBeGreaterThan(1);
		expect((await slurm.calls("sbatch")).length).toBeLessThan(8);
		expect((await slurm.calls("sleep")).map(Number).every((seconds) => seconds > 0)).toBe(true);
	});

	test("a submit limit: what fits is queued, a later exchange queues the rest", async () => {
		const limit = (most: number) =>
			`(($(grep -c . "$FAKE/queue") < ${most})) || { echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2; exit 1; }`;
		await slurm.on("sbatch", limit(2));
		const wanted = { jobs: ["a", "b", "c", "d", "e"] };
		expect(await ids(slurm, wanted)).toEqual({ a: "101", b: "102", c: null, d: null, e: null });
		expect(await slurm.calls("sbatch")).toHaveLength(5);
		await slurm.on("sbatch", limit(9));
		expect(await ids(slurm, wanted)).toEqual({ a: "101", b: "102", c: "103", d: "104", e: "105" });
	});

	test("two jobs in one directory: the lowest id stays, the held double is cancelled", async () => {
		const dir = `${submission(slurm).runDir}/gsm8k`;
		const held = { state: "PENDING", reason: "JobHeldUser", user: USER, dir };
		await slurm.add({ id: 1000, ...held });
		await slurm.add({ id: 999, ...held });
		expect(await ids(slurm)).toEqual({ gsm8k: "999" });
		expect(await slurm.calls("scancel")).toEqual(["1000"]);
		expect(await slurm.calls("sbatch")).toEqual([]);
	});

	test("a double that already runs stays, and the held one goes", async () => {
		const job = { user: USER, dir: `${submission(slurm).runDir}/gsm8k` };
		await slurm.add({ id: 50, state: "PENDING", reason: "JobHeldUser", ...job });
		await slurm.add({ id: 51, state: "RUNNING", reason: "None", ...job });
		expect(await ids(slurm)).toEqual({ gsm8k: "51" });
		expect(await slurm.calls("scancel")).toEqual(["50"]);
	});

	test("earlier attempts, other users and other directories are not taken", async () => {
		const dir = `${submission(slurm).runDir}/gsm8k`;
		const running = { state: "RUNNING", reason: "None" };
		await slurm.add({ id: 41, ...running, user: USER, dir });
		await slurm.add({ id: 42, ...running, user: "somebody", dir });
		await slurm.add({ id: 43, ...running, user: USER, dir: `${dir}2` });
		await slurm.add({ id: 44, state: "CANCELLED", reason: "None", user: USER, dir });
		expect(await ids(slurm, { jobs: [{ benchmark: "gsm8k", knownIds: ["41"] }] })).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("scancel")).toEqual([]);
	});

	test("a line of submit.ids that was cut short is no record", async () => {
		const { runDir } = submission(slurm);
		await mkdir(runDir, { recursive: true });
		await writeFile(`${runDir}/submit.ids`, "gsm8k\t99\t\ngsm8k\t10");
		expect(await ids(slurm)).toEqual({ gsm8k: "99" });
		await writeFile(`${runDir}/submit.ids`, "gsm8k\t10");
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});

	test("a release that the controller did not take is asked for again", async () => {
		await slurm.on("scontrol", "((count > 2)) || exit 1");
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
		expect(await slurm.jobs()).toMatchObject([{ reason: "Priority" }]);
		expect(await slurm.calls("scontrol")).toHaveLength(3);
	});
});

describe("another run of the same benchmark", () => {
	const elsewhere = () => join(slurm.folder, "out/gym-job-0");
	interface Other {
		readonly stack?: string;
		readonly dir?: string;
		readonly user?: string;
		readonly state?: string;
	}
	/** Somebody else's submission, with a job. */
	async function other({ stack = "x", dir = "gsm8k", user = USER, state = "RUNNING" }: Other = {}) {
		await mkdir(elsewhere(), { recursive: true });
		const metadata = { executor_metadata: { gymfile_stack: stack } };
		await writeFile(join(elsewhere(), "gym-job.json"), JSON.stringify(metadata, null, 2));
		await slurm.add({ id: 7, state, reason: "None", user, dir: join(elsewhere(), dir) });
	}

	test.each(["PENDING", "RUNNING", "COMPLETING", "SUSPENDED"])(
		"that is %s: it is named, and only it is not submitted",
		async (state) => {
			await other({ state });
			const { jobs } = await submit(slurm, { jobs: ["gsm8k", "aime"] });
			expect(jobs).toMatchObject([
				{ benchmark: "gsm8k", jobId: null },
				{ jobId: "101", error: null },
			]);
			expect(jobs[0]!.error).toBe(
				`another run of x/gsm8k is live: ${elsewhere()}/gsm8k, job 7; plan again: it will be shown as = (adopt)`,
			);
			expect(await readdir(submission(slurm).runDir)).not.toContain("gsm8k");
			expect(await slurm.calls("scancel")).toEqual([]);
		},
	);

	test("stands in the way of a further attempt too", async () => {
		await other();
		expect(await ids(slurm, { jobs: [{ benchmark: "gsm8k", knownIds: ["3"] }] })).toEqual({ gsm8k: null });
	});

	test.each<[string, Other]>([
		["that is over", { state: "COMPLETED" }],
		["of another stack", { stack: "x2" }],
		["of another user", { user: "somebody" }],
		["of another benchmark", { dir: "gsm8k2" }],
	])("%s does not stand in the way", async (_, more) => {
		await other(more);
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
	});

	test("does not stand in the way when the state knows it", async () => {
		await other();
		expect(await ids(slurm, { knownDirs: [join(elsewhere(), "gsm8k")] })).toEqual({ gsm8k: "101" });
	});

	test("does not keep a job that is there already from being released", async () => {
		await ids(slurm);
		await other();
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
	});

	test("two exchanges at a time, each for a run directory of its own: one submits", async () => {
		const runs = ["gym-job-1", "gym-job-2", "gym-job-3"].map((name) => join(slurm.folder, "out", name));
		const found = await Promise.all(runs.map((runDir) => ids(slurm, { runDir })));
		expect(found.filter(({ gsm8k }) => gsm8k === "101")).toHaveLength(1);
		expect(found.filter(({ gsm8k }) => gsm8k === null)).toHaveLength(2);
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});
});

describe("the stack's lock", () => {
	const lock = () => join(slurm.folder, `out/.gym-stack-x-${userInfo().uid}.lock`);

	test("is for its user alone", async () => {
		await ids(slurm);
		expect(await mode(lock())).toBe("600");
	});

	test("that cannot be had: nothing is submitted", async () => {
		await mkdir(lock(), { recursive: true });
		await expect(submit(slurm)).rejects.toMatchObject({
			problems: [{ code: "submit-lock", message: expect.stringContaining(lock()) }],
		});
		expect(await slurm.calls("sbatch")).toEqual([]);
	});

	test("is not waited for by a cancel: an exchange that waits for it submits nothing then", async () => {
		const go = join(slurm.folder, "go");
		await slurm.on("sbatch", `while [[ ! -e '${go}' ]]; do /usr/bin/sleep 0.05; done`);
		const working = ids(slurm);
		await vi.waitFor(async () => expect(await slurm.calls("sbatch")).toHaveLength(1), 10_000);
		const waits = { runDir: join(slurm.folder, "out/gym-job-2"), jobs: ["aime"] };
		const waiting = submit(slurm, waits);
		const cancel = await slurm.run(cancelScript([`${waits.runDir}/aime`], noPoints));
		expect(cancel.code, cancel.stderr).toBe(0);
		await writeFile(go, "");
		expect(await working).toEqual({ gsm8k: "101" });
		expect((await waiting).jobs).toMatchObject([{ jobId: null, error: "cancelled before it was submitted" }]);
	});

	test("is waited for by a look for runs: what is about to be queued is found", async () => {
		const go = join(slurm.folder, "go");
		await slurm.on("sbatch", `while [[ ! -e '${go}' ]]; do /usr/bin/sleep 0.05; done`);
		const working = ids(slurm, { jobs: ["gsm8k", "aime"] });
		await vi.waitFor(async () => expect(await slurm.calls("sbatch")).toHaveLength(1), 10_000);
		const { outputPath } = submission(slurm);
		const looking = slurm.run(findScript({ stack: "x", outputPath }));
		await writeFile(go, "");
		await working;
		expect(parseFound((await looking).stdout)).toMatchObject([{ ids: "gsm8k\t101\t\naime\t102\t\n" }]);
	});
});

describe("the queue's silence", () => {
	test("squeue fails twice, then works", async () => {
		await slurm.on("squeue", "((count > 2)) || exit 1");
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});

	test("an outage between two exchanges changes nothing", async () => {
		await ids(slurm);
		await slurm.on("squeue", "exit 1");
		await expect(submit(slurm)).rejects.toMatchObject({ problems: [{ code: "queue-silent" }] });
		await slurm.on("squeue", "");
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});

	test("no answer at all: nothing is staged or submitted", async () => {
		await slurm.on("squeue", "exit 1");
		const ran = await slurm.run(submitScript(submission(slurm), noPoints));
		expect(ran.code).toBe(75);
		expect(await slurm.calls("sbatch")).toEqual([]);
		expect(await readdir(submission(slurm).runDir)).not.toContain("gsm8k");
	});

	test("notices of a wrapper around squeue are no jobs", async () => {
		await slurm.on("squeue", "echo 'welcome | to | the | cluster'; echo; echo '||||'");
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
	});
});

describe("replacing a live run", () => {
	const old = () => join(slurm.folder, "out/gym-job-0/gsm8k");
	const wanted = () => ({ jobs: [{ benchmark: "gsm8k", replaces: [old()] }] });
	beforeEach(async () => {
		await mkdir(old(), { recursive: true });
		await slurm.add({ id: 7, state: "RUNNING", reason: "None", user: USER, dir: old() });
	});

	test("the new one is accepted, the old one ends, the new one is released", async () => {
		await slurm.on("scancel", `cp "$FAKE/queue" "$FAKE/at-cancel"`);
		expect(await ids(slurm, wanted())).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("scancel")).toEqual(["7"]);
		expect(await readFile(join(slurm.folder, "fake/at-cancel"), "utf8")).toContain("101|PENDING|JobHeldUser");
		expect(await readFile(join(old(), "control"), "utf8")).toBe("stop\n");
		expect((await slurm.jobs()).find((one) => one.id === 101)).toMatchObject({ reason: "Priority" });
	});

	test("refused, the old one goes on", async () => {
		await slurm.on("sbatch", "echo 'sbatch: error: no' >&2; exit 1");
		expect(await ids(slurm, wanted())).toEqual({ gsm8k: null });
		expect(await slurm.jobs()).toMatchObject([{ id: 7, state: "RUNNING" }]);
		expect(await readdir(old())).toEqual([]);
	});

	test("an old one that does not end leaves the new one held", async () => {
		await slurm.on("scancel", "exit 1");
		await expect(submit(slurm, wanted())).rejects.toMatchObject({
			problems: [{ code: "replace-unfinished" }],
		});
		expect((await slurm.jobs()).find((one) => one.id === 101)).toMatchObject({ reason: "JobHeldUser" });
		await slurm.on("scancel", "");
		expect(await ids(slurm, wanted())).toEqual({ gsm8k: "101" });
	});
});

test("no sbatch on PATH, in a login shell neither", async () => {
	const bin = join(slurm.folder, "coreutils");
	await mkdir(bin);
	for (const name of ["id", "mkdir", "date"]) await symlink(`/usr/bin/${name}`, join(bin, name));
	await expect(submit(slurm, {}, `PATH=${bin}`)).rejects.toMatchObject({
		exit: "refused",
		problems: [{ code: "no-sbatch" }],
	});
});

test("shellcheck is content with the script", () => {
	const wanted = submission(slurm, {
		jobs: ["gsm8k", { benchmark: "b.c", replaces: ["/o p/old"], knownIds: ["3"] }],
		mountSources: ["/a b"],
		forward: new Map([["X", "y z"]]),
		knownDirs: ["/o p/it's", "/b/c"],
	});
	expect(shellcheck(findScript({ stack: "x", outputPath: "/a b" }))).toBe("");
	expect(shellcheck(submitScript(wanted, noPoints))).toBe("");
	expect(shellcheck(submitScript(submission(slurm), { ...noPoints, remote: "submit.staged" }))).toBe("");
});

test("the scripts have the points at which tests stop them, and no others", () => {
	const pointsIn = (text: string) =>
		[...new Set([...text.matchAll(/^\s*point (\S+)$/gm)].map(([, name]) => name!))].sort();
	expect(pointsIn(cancelScript(["/run/one"], noPoints))).toEqual([...CANCEL_POINTS].sort());
	const all = [...SUBMIT_POINTS, ...CANCEL_POINTS].sort();
	expect(pointsIn(submitScript(submission(slurm), noPoints))).toEqual(all);
});

test("an exchange that comes after the cancel queues nothing; a further attempt takes the mark away", async () => {
	const wanted = submission(slurm, { jobs: ["gsm8k"] });
	const [request] = wanted.jobs;
	await mkdir(wanted.outputPath, { recursive: true });
	const cancel = await slurm.run(cancelScript([request!.jobDir], noPoints));
	expect(cancel.code, cancel.stderr).toBe(0);
	const late = await submit(slurm, { jobs: ["gsm8k"] });
	expect(late.jobs).toMatchObject([{ jobId: null, error: "cancelled before it was submitted" }]);
	const again = await submit(slurm, { jobs: [{ benchmark: "gsm8k", knownIds: ["7"] }] });
	expect(again.jobs[0]!.jobId).not.toBeNull();
});
