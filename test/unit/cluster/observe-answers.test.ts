/** What a look makes of programs that hang, of accounting that is not there, and of clusters that sbatch named. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { PreflightQuery, RunQuery } from "../../../src/cluster/scheduler.ts";
import { quote } from "../../../src/job/script/quote.ts";
import { type FakeSlurm, fakeSlurm, USER } from "./fake-slurm.ts";
import { look, queryFor, write } from "./observe-run.ts";

let slurm: FakeSlurm;
let runDir: string;
beforeEach(async () => {
	slurm = await fakeSlurm();
	runDir = join(slurm.folder, "my|evals ü'$(touch no)/gym-job-1");
});

const observe = (queries: readonly RunQuery[], preflight: PreflightQuery | null = null) =>
	look(slurm, queries, preflight);

const query = (benchmark: string, more: Partial<RunQuery> = {}) => queryFor(runDir, benchmark, more);

/** A stand-in for `timeout`: the program that `hangs` names is late, the others run. */
async function bounded(hangs: string): Promise<void> {
	await writeFile(
		join(slurm.folder, "bin/timeout"),
		`#!/bin/bash
printf '%s\\n' "$*" >>'${slurm.folder}/fake/calls.timeout'
while [[ $1 == -k ]]; do shift 2; done; shift
case " $* " in *' ${hangs} '*) exit 124 ;; esac
exec "$@"
`,
		{ mode: 0o755 },
	);
}

describe("programs that do not answer in time", () => {
	const preflight = () => ({ outputPath: slurm.folder, mountSources: [] });

	test("each question is bounded", async () => {
		await bounded("nothing");
		await slurm.on("sacct", "exit 0");
		await observe([query("gsm8k")], preflight());
		const asked = await slurm.calls("timeout");
		for (const program of ["squeue", "sacct", "scontrol", "sinfo", "sacctmgr", "srun"]) {
			const calls = asked.filter((call) => call.split(" ").includes(program));
			expect(calls.length, program).toBeGreaterThan(0);
			for (const call of calls) expect(call).toMatch(/^(-k 1 )?[1-9][0-9]? /);
		}
	});

	test("a database that hangs is asked once, and the controller all the same", async () => {
		await bounded("sacctmgr");
		await slurm.on("scontrol", "echo 'PartitionName=gpu'; exit 0");
		await slurm.add({ id: 1, state: "RUNNING", reason: "None", user: USER, dir: `${runDir}/gsm8k` });
		const seen = await observe([query("gsm8k")], preflight());
		expect(seen.queue).toHaveLength(1);
		expect(seen.accounting).toBeNull();
		expect(seen.preflight!.limits).toMatchObject({ partitions: [{ name: "gpu" }], associations: null });
		expect((await slurm.calls("timeout")).filter((call) => /sacct/.test(call))).toHaveLength(1);
		expect(await slurm.calls("sleep")).toEqual([]);
	});

	test("an accounting that hangs is asked once", async () => {
		await bounded("sacct");
		const { queue, accounting } = await observe([query("gsm8k")]);
		expect({ queue, accounting }).toEqual({ queue: [], accounting: null });
		expect((await slurm.calls("timeout")).filter((call) => / sacct /.test(call))).toHaveLength(1);
	});

	test("a controller that hangs is asked once, and its silence is no empty queue", async () => {
		await bounded("squeue");
		await mkdir(`${runDir}/gsm8k`, { recursive: true });
		const { queue, accounting, runs } = await observe([query("gsm8k")]);
		expect({ queue, accounting }).toEqual({ queue: null, accounting: null });
		expect(runs.get(`${runDir}/gsm8k`)!.exists).toBe(true);
		expect(await slurm.calls("timeout")).toHaveLength(1);
	});
});

describe("accounting", () => {
	const row = (id: string, dir: string) =>
		`${id}|COMPLETED|0:0|3|1700000000|1700000001|1700000004|n1|${USER}|home|${dir}`;

	test("that is switched off is not asked a second time", async () => {
		await slurm.on("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
		expect((await observe([query("gsm8k")])).accounting).toBeNull();
		expect(await slurm.calls("sacct")).toHaveLength(1);
		expect(await slurm.calls("sleep")).toEqual([]);
	});

	test("that fails twice, then answers", async () => {
		await slurm.on(
			"sacct",
			`((count > 2)) || { echo 'sacct: error: Connection refused' >&2; exit 1; }; echo ${quote(row("1", `${runDir}/gsm8k`))}; exit 0`,
		);
		expect((await observe([query("gsm8k")])).accounting).toMatchObject([{ jobId: "1" }]);
	});

	test("of another job with the same id says nothing", async () => {
		await slurm.on("sacct", `echo ${quote(row("1", "/somebody/else"))}; exit 0`);
		expect((await observe([query("gsm8k")])).accounting).toEqual([]);
	});
});

describe("a cluster that sbatch named", () => {
	/** squeue and sacct know different jobs on `+"`c1`"+` and on the login node's own cluster. */
	const federation = async () => {
		await write(`${runDir}/submit.ids`, "gsm8k\t39\tc1\naime\t40\t\nifeval\t41\tc1\n");
		const queued = (id: number, dir: string) => `${id}|RUNNING|1|1|0:01|1|n1|${USER}|None|${dir}`;
		await slurm.on(
			"squeue",
			`case " $* " in *' -M c1 '*) echo 'CLUSTER: c1'; echo ${quote(queued(39, `${runDir}/gsm8k`))} ;; *) echo ${quote(queued(40, `${runDir}/aime`))} ;; esac; exit 0`,
		);
		const ended = (dir: string, cluster: string) => `39|FAILED|1:0|3|1|1|4|n1|${USER}|${cluster}|${dir}`;
		await slurm.on(
			"sacct",
			`case " $* " in *' -M c1 '*) echo ${quote(ended(`${runDir}/gsm8k`, "c1"))} ;; *) echo ${quote(ended("/somebody/else", "home"))} ;; esac; exit 0`,
		);
	};
	const queries = () => [query("gsm8k", { jobIds: ["39"] }), query("aime", { jobIds: ["40"] })];

	test("is asked too, once however many jobs went there", async () => {
		await federation();
		const { queue, accounting } = await observe(queries());
		expect(queue!.map((job) => [job.jobId, job.workDir])).toEqual([
			["40", `${runDir}/aime`],
			["39", `${runDir}/gsm8k`],
		]);
		expect(accounting).toMatchObject([{ jobId: "39", cluster: "c1", workDir: `${runDir}/gsm8k` }]);
		for (const program of ["squeue", "sacct"]) {
			const calls = await slurm.calls(program);
			expect(calls.map((call) => /-M (\S+)/.exec(call)?.[1] ?? null)).toEqual([null, "c1"]);
		}
	});

	test("and does not answer: nothing follows from absence", async () => {
		await federation();
		await slurm.on("squeue", `case " $* " in *' -M '*) exit 1 ;; esac`);
		await slurm.on("sacct", `case " $* " in *' -M '*) exit 1 ;; *) exit 0 ;; esac`);
		const { queue, accounting } = await observe(queries());
		expect({ queue, accounting }).toEqual({ queue: null, accounting: null });
	});

	test("nobody is asked about a name that is none", async () => {
		await write(`${runDir}/submit.ids`, "gsm8k\t39\t-x\ngsm8k\t40\ta;b\ngsm8k\t41\t$(touch no)\n");
		expect((await observe(queries())).queue).toEqual([]);
		expect(await slurm.calls("squeue")).toHaveLength(1);
	});
});
