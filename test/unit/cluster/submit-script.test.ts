/** The submit exchange, run for real in bash against stand-ins for Slurm's programs. */
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { JobRequest, Submission } from "../../../src/cluster/scheduler.ts";
import { slurmScheduler } from "../../../src/cluster/slurm/scheduler.ts";
import { submitScript } from "../../../src/cluster/slurm/submit-script.ts";
import { noPoints } from "../../../src/points.ts";
import { type FakeSlurm, fakeSlurm, type Ran, shellcheck, USER } from "./fake-slurm.ts";

let slurm: FakeSlurm;
beforeEach(async () => {
	slurm = await fakeSlurm();
});

const BUSY =
	"echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1";

function job(runDir: string, benchmark: string, more: Partial<JobRequest> = {}): JobRequest {
	const files = new Map([
		["job.sh", { text: "#!/bin/bash\nexit 0\n", mode: 0o600 }],
		["control", { text: "", mode: 0o600 }],
		[".env", { text: "TOKEN='s3cret'\n", mode: 0o600 }],
	]);
	return { benchmark, jobDir: `${runDir}/${benchmark}`, files, knownIds: [], replaces: [], ...more };
}

interface Wanted extends Partial<Omit<Submission, "jobs">> {
	readonly jobs?: readonly (string | Partial<JobRequest>)[];
}

function submission({ jobs = ["gsm8k"], ...more }: Wanted = {}): Submission {
	const outputPath = more.outputPath ?? join(slurm.folder, "out");
	const runDir = more.runDir ?? `${outputPath}/gym-job-1`;
	return {
		runDir,
		outputPath,
		files: new Map([["resolved-config.yaml", { text: "a: 1\n", mode: 0o600 }]]),
		record: {
			gymJobId: "gym-job-1",
			gymVersion: "0.7.0",
			cluster: "lab",
			executor: "slurm",
			hostname: null,
			metadata: { gymfile_stack: "x" },
		},
		mountSources: [],
		walltime: null,
		forward: new Map(),
		...more,
		jobs: jobs.map((one) =>
			typeof one === "string" ? job(runDir, one) : job(runDir, one.benchmark ?? "gsm8k", one),
		),
	};
}

/** What the scheduler makes of the exchange. */
async function submit(wanted: Wanted = {}, before = "") {
	const transport = {
		label: "here",
		run: (_: string, script: string): Promise<Ran> => slurm.run(script, before),
		close: async () => {},
	};
	return slurmScheduler(transport as never, noPoints).submit(submission(wanted));
}

async function ids(wanted: Wanted = {}): Promise<Record<string, string | null>> {
	const { jobs } = await submit(wanted);
	return Object.fromEntries(jobs.map((one) => [one.benchmark, one.jobId]));
}

async function record(runDir = submission().runDir) {
	return JSON.parse(await readFile(join(runDir, "gym-job.json"), "utf8"));
}

async function mode(path: string): Promise<string> {
	return ((await stat(path)).mode & 0o777).toString(8);
}

describe("sbatch's answer", () => {
	const NOTICE = "sbatch: notice: no partition given, using batch";

	test.each<readonly [string, string, string | null]>([
		["4711\n", "4711", null],
		["4711 \r\n", "4711", null],
		["4711", "4711", null],
		["123;alpha\n", "123", "alpha"],
		["123;alpha\r\n", "123", "alpha"],
		["Submitted batch job 39 on cluster c1\n", "39", "c1"],
		["Submitted batch job 39\n", "39", null],
		["sbatch: Submitted batch job 39 on cluster c1\n", "39", "c1"],
		[`${NOTICE}\n39\n`, "39", null],
		[`39\n${NOTICE}\n`, "39", null],
		[`${NOTICE}\nYou have 17 of 20 jobs left\n39;c1\n${NOTICE}\n`, "39", "c1"],
		["\x1b[32mSubmitted batch job 39\x1b[0m\n", "39", null],
		["-- budget: 12 GPU hours --\n\n   39   \n", "39", null],
		["2\nSubmitted batch job 39\n", "39", null],
		["Submitted batch job 39\n2\n", "39", null],
	])("%j is job %s on %s", async (stdout, jobId, cluster) => {
		await writeFile(join(slurm.folder, "said"), stdout);
		await slurm.on("sbatch", `id=${jobId}; cat ${slurm.folder}/said; exit 0`);
		const { jobs } = await submit();
		expect(jobs).toMatchObject([{ jobId, cluster, error: null }]);
		expect((await record()).benchmarks).toMatchObject([{ job_id: jobId, error: null }]);
	});

	test.each<readonly [string, string]>([
		["notices on stderr before it", `echo '${NOTICE}' >&2; echo 39`],
		["notices on stderr after it", `echo 39; echo '${NOTICE}' >&2`],
		["a number on stderr", "echo 4711 >&2; echo 39"],
		["a wrapper that says it on stderr", "echo 'Submitted batch job 39' >&2"],
	])("%s", async (_, text) => {
		await slurm.on("sbatch", `${text}; exit 0`);
		expect(await ids()).toEqual({ gsm8k: "39" });
	});

	test.each<readonly [string, string]>([
		["nothing", "true"],
		["an empty line", "echo"],
		["a bare number on stderr", "echo 4711 >&2"],
		["zero", "echo 0"],
		["a sentence", "echo job 12 of 20 jobs"],
		["two numbers", "echo 12 13"],
		["only a cluster", "echo ';c1'"],
		["a negative number", "echo -5"],
		["words", "echo 'accepted, thank you'"],
	])("%s names no job", async (_, text) => {
		await slurm.on("sbatch", `${text}; exit 0`);
		const { jobs } = await submit();
		expect(jobs).toMatchObject([{ jobId: null }]);
		expect(jobs[0]!.error).toMatch(/^sbatch gave no job id/);
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});

	test("an id with a failing exit code is none", async () => {
		await slurm.on("sbatch", "echo 99; exit 3");
		expect(await ids()).toEqual({ gsm8k: null });
	});

	test("each id belongs to its name, whatever happened to the others", async () => {
		await slurm.on(
			"sbatch",
			"[[ $name != aime ]] || { echo 'sbatch: error: Batch job submission failed: Invalid qos specification' >&2; exit 1; }",
		);
		const { jobs } = await submit({ jobs: ["gsm8k", "aime", "ifeval"] });
		expect(jobs.map((one) => [one.benchmark, one.jobId])).toEqual([
			["gsm8k", "101"],
			["aime", null],
			["ifeval", "102"],
		]);
		expect(jobs.map((one) => one.error)).toEqual([
			null,
			"sbatch: error: Batch job submission failed: Invalid qos specification",
			null,
		]);
		expect((await slurm.calls("sbatch")).length).toBe(3);
		const kept = await record();
		expect(kept.benchmarks.map((one: { job_id: string | null }) => one.job_id)).toEqual(["101", null, "102"]);
		expect(kept.benchmarks[1].error).toContain("Invalid qos");
	});
});

describe("exactly once", () => {
	test("held at first, on record, then released", async () => {
		const { runDir } = submission();
		await slurm.on("scontrol", `cp '${runDir}/submit.ids' '${slurm.folder}/at-release'`);
		const { jobs, user } = await submit({ jobs: ["gsm8k", "aime"] });
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
		const first = await ids(wanted);
		expect(await ids(wanted)).toEqual(first);
		await writeFile(join(slurm.folder, "fake/queue"), "");
		expect(await ids(wanted)).toEqual(first);
		expect(await slurm.calls("sbatch")).toHaveLength(2);
		expect(await slurm.calls("scancel")).toEqual([]);
	});

	test("two exchanges at a time submit once", async () => {
		const both = await Promise.all([ids(), ids()]);
		expect(both).toEqual([{ gsm8k: "101" }, { gsm8k: "101" }]);
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});

	test.each([
		"submit.staged",
		"submit.accepted",
		"submit.recorded",
		"submit.release",
		"submit.released",
		"submit.written",
	])("killed at %s, the next exchange goes on", async (point) => {
		const wanted = { jobs: ["gsm8k", "aime"] };
		const killed = await slurm.run(submitScript(submission(wanted), { ...noPoints, remote: point }));
		expect(killed.code).toBeNull();
		expect(await ids(wanted)).toEqual({ gsm8k: "101", aime: "102" });
		expect((await slurm.jobs()).map((one) => one.reason)).toEqual(["Priority", "Priority"]);
		expect((await record()).benchmarks).toHaveLength(2);
	});

	test("a job that was queued although sbatch said it timed out is taken, not submitted again", async () => {
		await slurm.on("sbatch", `queue; ${BUSY}`);
		expect(await ids()).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("sbatch")).toHaveLength(1);
		expect(await slurm.jobs()).toMatchObject([{ id: 101, reason: "Priority" }]);
		expect((await record()).benchmarks).toMatchObject([{ job_id: "101", error: null }]);
	});

	test("a job that shows up late, when another was submitted: the lowest id stays, the other goes", async () => {
		const late = `101|PENDING|JobHeldUser|${USER}|${submission().runDir}/gsm8k`;
		await slurm.on(
			"sbatch",
			`((nth > 1)) || { echo 101 >"$FAKE/last"; ${BUSY}; }; queue; echo '${late}' >>"$FAKE/queue"; echo "$id"; exit 0`,
		);
		expect(await ids()).toEqual({ gsm8k: "101" });
		expect(await slurm.jobs()).toMatchObject([
			{ id: 102, state: "CANCELLED" },
			{ id: 101, state: "PENDING", reason: "Priority" },
		]);
		expect(await ids()).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("sbatch")).toHaveLength(2);
	});

	test("a busy controller: every third call refused, all twelve are queued once", async () => {
		await slurm.on("sbatch", `((count % 3 || nth > 1)) || { ${BUSY}; }`);
		const names = Array.from({ length: 12 }, (_, index) => `bench${index}`);
		const found = await ids({ jobs: names });
		expect(new Set(Object.values(found)).size).toBe(12);
		expect(Object.keys(found).sort()).toEqual([...names].sort());
		const queued = await slurm.jobs();
		expect(queued).toHaveLength(12);
		for (const one of queued) expect(found[one.dir.split("/").at(-1)!]).toBe(String(one.id));
	});

	test("a controller that stays busy is asked a few times, then its words are shown", async () => {
		await slurm.on("sbatch", BUSY);
		const { jobs } = await submit();
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
		expect(await ids(wanted)).toEqual({ a: "101", b: "102", c: null, d: null, e: null });
		expect(await slurm.calls("sbatch")).toHaveLength(5);
		await slurm.on("sbatch", limit(9));
		expect(await ids(wanted)).toEqual({ a: "101", b: "102", c: "103", d: "104", e: "105" });
	});

	test("two jobs in one directory: the lowest id stays, the held double is cancelled", async () => {
		const dir = `${submission().runDir}/gsm8k`;
		const held = { state: "PENDING", reason: "JobHeldUser", user: USER, dir };
		await slurm.add({ id: 1000, ...held });
		await slurm.add({ id: 999, ...held });
		expect(await ids()).toEqual({ gsm8k: "999" });
		expect(await slurm.calls("scancel")).toEqual(["1000"]);
		expect(await slurm.calls("sbatch")).toEqual([]);
	});

	test("a double that already runs stays, and the held one goes", async () => {
		const job = { user: USER, dir: `${submission().runDir}/gsm8k` };
		await slurm.add({ id: 50, state: "PENDING", reason: "JobHeldUser", ...job });
		await slurm.add({ id: 51, state: "RUNNING", reason: "None", ...job });
		expect(await ids()).toEqual({ gsm8k: "51" });
		expect(await slurm.calls("scancel")).toEqual(["50"]);
	});

	test("earlier attempts, other users and other directories are not taken", async () => {
		const dir = `${submission().runDir}/gsm8k`;
		const running = { state: "RUNNING", reason: "None" };
		await slurm.add({ id: 41, ...running, user: USER, dir });
		await slurm.add({ id: 42, ...running, user: "somebody", dir });
		await slurm.add({ id: 43, ...running, user: USER, dir: `${dir}2` });
		await slurm.add({ id: 44, state: "CANCELLED", reason: "None", user: USER, dir });
		expect(await ids({ jobs: [{ benchmark: "gsm8k", knownIds: ["41"] }] })).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("scancel")).toEqual([]);
	});

	test("a line of submit.ids that was cut short is no record", async () => {
		const { runDir } = submission();
		await mkdir(runDir, { recursive: true });
		await writeFile(`${runDir}/submit.ids`, "gsm8k\t99\t\ngsm8k\t10");
		expect(await ids()).toEqual({ gsm8k: "99" });
		await writeFile(`${runDir}/submit.ids`, "gsm8k\t10");
		expect(await ids()).toEqual({ gsm8k: "101" });
		expect(await ids()).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});

	test("a release that the controller did not take is asked for again", async () => {
		await slurm.on("scontrol", "((count > 2)) || exit 1");
		expect(await ids()).toEqual({ gsm8k: "101" });
		expect(await slurm.jobs()).toMatchObject([{ reason: "Priority" }]);
		expect(await slurm.calls("scontrol")).toHaveLength(3);
	});
});

describe("the queue's silence", () => {
	test("squeue fails twice, then works", async () => {
		await slurm.on("squeue", "((count > 2)) || exit 1");
		expect(await ids()).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});

	test("an outage between two exchanges changes nothing", async () => {
		await ids();
		await slurm.on("squeue", "exit 1");
		await expect(submit()).rejects.toMatchObject({ problems: [{ code: "queue-silent" }] });
		await slurm.on("squeue", "");
		expect(await ids()).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});

	test("no answer at all: nothing is staged or submitted", async () => {
		await slurm.on("squeue", "exit 1");
		const ran = await slurm.run(submitScript(submission(), noPoints));
		expect(ran.code).toBe(75);
		expect(await slurm.calls("sbatch")).toEqual([]);
		expect(await readdir(submission().runDir)).not.toContain("gsm8k");
	});

	test("notices of a wrapper around squeue are no jobs", async () => {
		await slurm.on("squeue", "echo 'welcome | to | the | cluster'; echo; echo '||||'");
		expect(await ids()).toEqual({ gsm8k: "101" });
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
		expect(await ids(wanted())).toEqual({ gsm8k: "101" });
		expect(await slurm.calls("scancel")).toEqual(["7"]);
		expect(await readFile(join(slurm.folder, "fake/at-cancel"), "utf8")).toContain("101|PENDING|JobHeldUser");
		expect(await readFile(join(old(), "control"), "utf8")).toBe("stop\n");
		expect((await slurm.jobs()).find((one) => one.id === 101)).toMatchObject({ reason: "Priority" });
	});

	test("refused, the old one goes on", async () => {
		await slurm.on("sbatch", "echo 'sbatch: error: no' >&2; exit 1");
		expect(await ids(wanted())).toEqual({ gsm8k: null });
		expect(await slurm.jobs()).toMatchObject([{ id: 7, state: "RUNNING" }]);
		expect(await readdir(old())).toEqual([]);
	});

	test("an old one that does not end leaves the new one held", async () => {
		await slurm.on("scancel", "exit 1");
		await expect(submit(wanted())).rejects.toMatchObject({ problems: [{ code: "replace-unfinished" }] });
		expect((await slurm.jobs()).find((one) => one.id === 101)).toMatchObject({ reason: "JobHeldUser" });
		await slurm.on("scancel", "");
		expect(await ids(wanted())).toEqual({ gsm8k: "101" });
	});
});

describe("what reaches the cluster unchanged", () => {
	test.each(["with  spaces", "pipe|and|pipe", `quotes'"\``, "ümlaut-漢-😀", "$(touch no)", "a]b[c*?"])(
		"a path named %j",
		async (name) => {
			const outputPath = join(slurm.folder, name);
			const wanted = { outputPath, jobs: ["gsm8k", "if.eval_2"] };
			expect(await ids(wanted)).toEqual({ gsm8k: "101", "if.eval_2": "102" });
			const dirs = (await slurm.jobs()).map((one) => one.dir);
			expect(dirs).toEqual(["gsm8k", "if.eval_2"].map((one) => `${outputPath}/gym-job-1/${one}`));
			expect(await ids(wanted)).toEqual({ gsm8k: "101", "if.eval_2": "102" });
			expect(await slurm.calls("sbatch")).toHaveLength(2);
			const kept = await record(`${outputPath}/gym-job-1`);
			expect(kept).toMatchObject({ run_dir: `${outputPath}/gym-job-1`, submitted_by: USER });
			expect(kept.benchmarks[0].job_dir).toBe(`${outputPath}/gym-job-1/gsm8k`);
		},
	);

	test("hostile words of sbatch, in the outcome and in a record that is valid JSON", async () => {
		const words = `"quoted" \\back\\slash\\n & 'single' $(touch no) \`x\` é漢 a\tb`;
		await writeFile(
			join(slurm.folder, "words"),
			Buffer.concat([Buffer.from(`${words}\x01\x1b[31m!\r\nmore`), Buffer.from([0xff, 0x00])]),
		);
		await slurm.on("sbatch", `[[ $name != bad ]] || { cat '${slurm.folder}/words' >&2; exit 1; }`);
		const { jobs } = await submit({ jobs: ["bad", "good"] });
		expect(jobs[0]!.error).toBe(`${words}\x01!\nmore`);
		const bytes = await readFile(join(submission().runDir, "gym-job.json"));
		const kept = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
		expect(kept.benchmarks).toMatchObject([
			{ benchmark: "bad", job_id: null, error: `${words}!\nmore` },
			{ benchmark: "good", job_id: "101", error: null },
		]);
		expect(kept).toMatchObject({ executor_metadata: { gymfile_stack: "x" }, schema_version: 1 });
		expect(kept.submitted_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
	});

	test("forwarded values reach sbatch alone, and nothing of ours goes with them", async () => {
		const forward = new Map([["HF_TOKEN", 'it\'s $HOME `x` "q"\nline']]);
		await slurm.on("squeue", 'env -0 >"$FAKE/env.squeue"');
		await slurm.on("scontrol", 'env -0 >"$FAKE/env.scontrol"');
		const before = "export SBATCH_PARTITION=x SBATCH_EXPORT=NONE SQUEUE_PARTITION=x LC_ALL=C.UTF-8 KEPT=yes";
		await submit({ forward }, before);
		const env = await slurm.environment(1);
		expect(env.get("HF_TOKEN")).toBe('it\'s $HOME `x` "q"\nline');
		expect(env.get("LC_ALL")).toBe("C.UTF-8");
		expect(env.get("KEPT")).toBe("yes");
		expect([...env.keys()].filter((name) => /^(SBATCH_|SLURM_)/.test(name))).toEqual([]);
		for (const program of ["squeue", "scontrol"]) {
			const others = await readFile(join(slurm.folder, `fake/env.${program}`), "utf8");
			expect(others).not.toContain("HF_TOKEN");
			expect(others).not.toContain("SQUEUE_PARTITION");
		}
		expect((await slurm.calls("sbatch")).join()).not.toContain("it's");
	});

	test("without LC_ALL, sbatch gets none", async () => {
		await submit();
		expect((await slurm.environment(1)).has("LC_ALL")).toBe(false);
	});

	test("text of a staged file, whatever is in it", async () => {
		const text = `'"\\ $(touch no) \`x\`\n#!&%s\nEOF\n\ttab é`;
		await submit({ files: new Map([["sub/a b", { text, mode: 0o640 }]]) });
		expect(await readFile(join(submission().runDir, "sub/a b"), "utf8")).toBe(text);
		expect(await mode(join(submission().runDir, "sub/a b"))).toBe("640");
	});
});

describe("files and folders", () => {
	test.each(["000", "002", "077"])("nothing is writable by the group under umask %s", async (mask) => {
		await submit({}, `umask ${mask}`);
		const { runDir, outputPath } = submission();
		const names = await readdir(runDir, { recursive: true });
		for (const path of [outputPath, runDir, ...names.map((name) => join(runDir, name))]) {
			expect(Number.parseInt(await mode(path), 8) & 0o022, path).toBe(0);
		}
		for (const name of [
			"gsm8k/.env",
			"gsm8k/job.sh",
			"gsm8k/control",
			"resolved-config.yaml",
			"submit.ids",
		]) {
			expect(await mode(join(runDir, name)), name).toBe("600");
		}
	});

	test("the secrets' file is 0600 from its creation on", async () => {
		const { runDir } = submission();
		const files = new Map([[".env", { text: "x".repeat(100_000), mode: 0o600 }]]);
		// Every look at a file that bash opens for writing: chmod is told what it finds.
		const spy = `chmod() { stat -c '%a %n' -- "$2" >>'${slurm.folder}/seen' 2>/dev/null; command chmod "$@"; }`;
		await submit({ jobs: [{ benchmark: "gsm8k", files }] }, `umask 000; ${spy}`);
		expect(await readFile(join(slurm.folder, "seen"), "utf8")).toContain(`600 ${runDir}/gsm8k/.env.new`);
	});

	test("a refused job keeps no secrets on the cluster", async () => {
		await slurm.on("sbatch", "echo 'sbatch: error: no' >&2; exit 1");
		await submit();
		expect(await readdir(join(submission().runDir, "gsm8k"))).not.toContain(".env");
		await slurm.on("sbatch", "");
		await submit();
		expect(await readdir(join(submission().runDir, "gsm8k"))).toContain(".env");
	});

	test("missing mount sources are all named, and nothing is staged", async () => {
		const mountSources = [slurm.folder, "/no such/$(touch x)", "/nor/that"];
		await expect(submit({ mountSources })).rejects.toMatchObject({
			exit: "refused",
			problems: [
				{ code: "mount-missing", message: expect.stringContaining("/no such/$(touch x)") },
				{ code: "mount-missing", message: expect.stringContaining("/nor/that") },
			],
		});
		expect(await readdir(submission().outputPath)).toEqual([]);
		expect(await slurm.calls("sbatch")).toEqual([]);
	});

	test("an output path that cannot be made", async () => {
		await writeFile(join(slurm.folder, "file"), "");
		const outputPath = join(slurm.folder, "file/out");
		await expect(submit({ outputPath })).rejects.toMatchObject({
			exit: "refused",
			problems: [{ code: "output-path-not-writable", at: "job.output_path" }],
		});
		expect(await slurm.calls("sbatch")).toEqual([]);
	});

	test("a full disk: an id that cannot be recorded stays held until the next exchange", async () => {
		const full = `printf() { [[ "$*" != *' gsm8k 101 '* ]] || { echo 'No space left' >&2; return 1; }; builtin printf "$@"; }`;
		const ran = await slurm.run(submitScript(submission(), noPoints), full);
		expect(ran.code).toBe(94);
		expect(ran.stderr).toContain("No space left");
		expect(await slurm.jobs()).toMatchObject([{ id: 101, reason: "JobHeldUser" }]);
		expect(await ids()).toEqual({ gsm8k: "101" });
		expect(await slurm.jobs()).toMatchObject([{ id: 101, reason: "Priority" }]);
	});

	test("a full disk while staging: nothing is submitted", async () => {
		const { runDir } = submission();
		await mkdir(`${runDir}/gsm8k`, { recursive: true });
		await symlink("/dev/full", `${runDir}/gsm8k/job.sh.new`);
		await expect(submit()).rejects.toMatchObject({
			exit: "failure",
			problems: [{ code: "staging-failed", message: expect.stringContaining("No space left") }],
		});
		expect(await slurm.calls("sbatch")).toEqual([]);
	});
});

test("no sbatch on PATH, in a login shell neither", async () => {
	const bin = join(slurm.folder, "coreutils");
	await mkdir(bin);
	for (const name of ["id", "mkdir", "date"]) await symlink(`/usr/bin/${name}`, join(bin, name));
	await expect(submit({}, `PATH=${bin}`)).rejects.toMatchObject({
		exit: "refused",
		problems: [{ code: "no-sbatch" }],
	});
});

test("shellcheck is content with the script", () => {
	const wanted = submission({
		jobs: ["gsm8k", { benchmark: "b.c", replaces: ["/o p/old"], knownIds: ["3"] }],
		mountSources: ["/a b"],
		forward: new Map([["X", "y z"]]),
	});
	expect(shellcheck(submitScript(wanted, noPoints))).toBe("");
	expect(shellcheck(submitScript(submission(), { ...noPoints, remote: "submit.staged" }))).toBe("");
});
