/** What sbatch may answer, and the id that the submit exchange finds in it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type FakeSlurm, fakeSlurm } from "./fake-slurm.ts";
import { ids, record, submission, submit } from "./submit-run.ts";

let slurm: FakeSlurm;
beforeEach(async () => {
	slurm = await fakeSlurm();
});

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
		const { jobs } = await submit(slurm);
		expect(jobs).toMatchObject([{ jobId, cluster, error: null }]);
		expect((await record(submission(slurm).runDir)).benchmarks).toMatchObject([
			{ job_id: jobId, error: null },
		]);
	});

	test.each<readonly [string, string]>([
		["notices on stderr before it", `echo '${NOTICE}' >&2; echo 39`],
		["notices on stderr after it", `echo 39; echo '${NOTICE}' >&2`],
		["a number on stderr", "echo 4711 >&2; echo 39"],
		["a wrapper that says it on stderr", "echo 'Submitted batch job 39' >&2"],
	])("%s", async (_, text) => {
		await slurm.on("sbatch", `${text}; exit 0`);
		expect(await ids(slurm)).toEqual({ gsm8k: "39" });
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
		const { jobs } = await submit(slurm);
		expect(jobs).toMatchObject([{ jobId: null }]);
		expect(jobs[0]!.error).toMatch(/^sbatch gave no job id/);
		expect(await slurm.calls("sbatch")).toHaveLength(1);
	});

	test("an id with a failing exit code is none", async () => {
		await slurm.on("sbatch", "echo 99; exit 3");
		expect(await ids(slurm)).toEqual({ gsm8k: null });
	});

	test("each id belongs to its name, whatever happened to the others", async () => {
		await slurm.on(
			"sbatch",
			"[[ $name != aime ]] || { echo 'sbatch: error: Batch job submission failed: Invalid qos specification' >&2; exit 1; }",
		);
		const { jobs } = await submit(slurm, { jobs: ["gsm8k", "aime", "ifeval"] });
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
		const kept = await record(submission(slurm).runDir);
		expect(kept.benchmarks.map((one: { job_id: string | null }) => one.job_id)).toEqual(["101", null, "102"]);
		expect(kept.benchmarks[1].error).toContain("Invalid qos");
	});
});
