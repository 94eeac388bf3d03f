/** What the submit exchange writes on the cluster and hands to sbatch: bytes, modes, environment. */
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { submitScript } from "../../../src/cluster/slurm/submit-script.ts";
import { noPoints } from "../../../src/points.ts";
import { type FakeSlurm, fakeSlurm, USER } from "./fake-slurm.ts";
import { ids, mode, record, submission, submit } from "./submit-run.ts";

let slurm: FakeSlurm;
beforeEach(async () => {
	slurm = await fakeSlurm();
});

describe("what reaches the cluster unchanged", () => {
	test.each(["with  spaces", "pipe|and|pipe", `quotes'"\``, "ümlaut-漢-😀", "$(touch no)", "a]b[c*?"])(
		"a path named %j",
		async (name) => {
			const outputPath = join(slurm.folder, name);
			const wanted = { outputPath, jobs: ["gsm8k", "if.eval_2"] };
			expect(await ids(slurm, wanted)).toEqual({ gsm8k: "101", "if.eval_2": "102" });
			const dirs = (await slurm.jobs()).map((one) => one.dir);
			expect(dirs).toEqual(["gsm8k", "if.eval_2"].map((one) => `${outputPath}/gym-job-1/${one}`));
			expect(await ids(slurm, wanted)).toEqual({ gsm8k: "101", "if.eval_2": "102" });
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
		const { jobs } = await submit(slurm, { jobs: ["bad", "good"] });
		expect(jobs[0]!.error).toBe(`${words}\x01!\nmore`);
		const bytes = await readFile(join(submission(slurm).runDir, "gym-job.json"));
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
		await submit(slurm, { forward }, before);
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
		await submit(slurm);
		expect((await slurm.environment(1)).has("LC_ALL")).toBe(false);
	});

	test("text of a staged file, whatever is in it", async () => {
		const text = `'"\\ $(touch no) \`x\`\n#!&%s\nEOF\n\ttab é`;
		await submit(slurm, { files: new Map([["sub/a b", { text, mode: 0o640 }]]) });
		expect(await readFile(join(submission(slurm).runDir, "sub/a b"), "utf8")).toBe(text);
		expect(await mode(join(submission(slurm).runDir, "sub/a b"))).toBe("640");
	});
});

describe("files and folders", () => {
	test.each(["000", "002", "077"])("nothing is writable by the group under umask %s", async (mask) => {
		await submit(slurm, {}, `umask ${mask}`);
		const { runDir, outputPath } = submission(slurm);
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
		const { runDir } = submission(slurm);
		const files = new Map([[".env", { text: "x".repeat(100_000), mode: 0o600 }]]);
		// Every look at a file that bash opens for writing: chmod is told what it finds.
		const spy = `chmod() { stat -c '%a %n' -- "$2" >>'${slurm.folder}/seen' 2>/dev/null; command chmod "$@"; }`;
		await submit(slurm, { jobs: [{ benchmark: "gsm8k", files }] }, `umask 000; ${spy}`);
		expect(await readFile(join(slurm.folder, "seen"), "utf8")).toContain(`600 ${runDir}/gsm8k/.env.new`);
	});

	test("a refused job keeps no secrets on the cluster", async () => {
		await slurm.on("sbatch", "echo 'sbatch: error: no' >&2; exit 1");
		await submit(slurm);
		expect(await readdir(join(submission(slurm).runDir, "gsm8k"))).not.toContain(".env");
		await slurm.on("sbatch", "");
		await submit(slurm);
		expect(await readdir(join(submission(slurm).runDir, "gsm8k"))).toContain(".env");
	});

	test("missing mount sources are all named, and nothing is staged", async () => {
		const mountSources = [slurm.folder, "/no such/$(touch x)", "/nor/that"];
		await expect(submit(slurm, { mountSources })).rejects.toMatchObject({
			exit: "refused",
			problems: [
				{ code: "mount-missing", message: expect.stringContaining("/no such/$(touch x)") },
				{ code: "mount-missing", message: expect.stringContaining("/nor/that") },
			],
		});
		expect(await readdir(submission(slurm).outputPath)).toEqual([]);
		expect(await slurm.calls("sbatch")).toEqual([]);
	});

	test("an output path that cannot be made", async () => {
		await writeFile(join(slurm.folder, "file"), "");
		const outputPath = join(slurm.folder, "file/out");
		await expect(submit(slurm, { outputPath })).rejects.toMatchObject({
			exit: "refused",
			problems: [{ code: "output-path-not-writable", at: "job.output_path" }],
		});
		expect(await slurm.calls("sbatch")).toEqual([]);
	});

	test("a full disk: an id that cannot be recorded stays held until the next exchange", async () => {
		const full = `printf() { [[ "$*" != *' gsm8k 101 '* ]] || { echo 'No space left' >&2; return 1; }; builtin printf "$@"; }`;
		const ran = await slurm.run(submitScript(submission(slurm), noPoints), full);
		expect(ran.code).toBe(94);
		expect(ran.stderr).toContain("No space left");
		expect(await slurm.jobs()).toMatchObject([{ id: 101, reason: "JobHeldUser" }]);
		expect(await ids(slurm)).toEqual({ gsm8k: "101" });
		expect(await slurm.jobs()).toMatchObject([{ id: 101, reason: "Priority" }]);
	});

	test("a full disk while staging: nothing is submitted", async () => {
		const { runDir } = submission(slurm);
		await mkdir(`${runDir}/gsm8k`, { recursive: true });
		await symlink("/dev/full", `${runDir}/gsm8k/job.sh.new`);
		await expect(submit(slurm)).rejects.toMatchObject({
			exit: "failure",
			problems: [{ code: "staging-failed", message: expect.stringContaining("No space left") }],
		});
		expect(await slurm.calls("sbatch")).toEqual([]);
	});
});
