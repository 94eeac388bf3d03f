/** The observe exchange, run for real in bash against stand-ins for Slurm's programs. */
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type PreflightQuery, ROLLOUTS_LIMIT, type RunQuery } from "../../../src/cluster/scheduler.ts";
import { observeScript } from "../../../src/cluster/slurm/observe-script.ts";
import { type FakeSlurm, fakeSlurm, shellcheck, USER } from "./fake-slurm.ts";
import { look, queryFor, write } from "./observe-run.ts";

let slurm: FakeSlurm;
let runDir: string;
beforeEach(async () => {
	slurm = await fakeSlurm();
	runDir = join(slurm.folder, "my|evals ü'$(touch no)/gym-job-1");
});

const observe = (queries: readonly RunQuery[], preflight: PreflightQuery | null = null, before = "") =>
	look(slurm, queries, preflight, before);

const query = (benchmark: string, more: Partial<RunQuery> = {}) => queryFor(runDir, benchmark, more);

describe("the queue", () => {
	test("a pipe in a work directory moves no column", async () => {
		await slurm.add({ id: 1, state: "RUNNING", reason: "None", user: USER, dir: `${runDir}/gsm8k` });
		const { queue, user } = await observe([query("gsm8k")]);
		expect(user).toBe(USER);
		expect(queue).toMatchObject([{ jobId: "1", state: "RUNNING", workDir: `${runDir}/gsm8k` }]);
	});

	test("squeue fails twice, then answers", async () => {
		await slurm.add({ id: 1, state: "RUNNING", reason: "None", user: USER, dir: `${runDir}/gsm8k` });
		await slurm.on("squeue", "((count > 2)) || exit 1");
		expect((await observe([query("gsm8k")])).queue).toHaveLength(1);
	});

	test("silence is not an empty queue", async () => {
		await slurm.on("squeue", "echo 'slurm_load_jobs error' >&2; exit 1");
		expect((await observe([query("gsm8k")])).queue).toBeNull();
	});

	test("the user's filters hide nothing", async () => {
		await slurm.on("squeue", "[[ ! $SQUEUE_PARTITION ]] || exit 0");
		await slurm.add({ id: 1, state: "RUNNING", reason: "None", user: USER, dir: `${runDir}/gsm8k` });
		const { queue } = await observe([query("gsm8k")], null, "export SQUEUE_PARTITION=x");
		expect(queue).toHaveLength(1);
	});
});

describe("run directories", () => {
	test("every file is read back as it is, under its own benchmark", async () => {
		const bytes = Buffer.from([0, 0xff, 10, 10, 65]);
		await write(`${runDir}/gsm8k/ends/12`, "exit=0 why=finished\n");
		await write(`${runDir}/gsm8k/ends/13`, "exit=85 why=time\n");
		await write(`${runDir}/gsm8k/ends/13.new`, "half");
		await write(`${runDir}/gsm8k/control`, "stop\n");
		await write(`${runDir}/gsm8k/chain.jsonl`, '{"event":"é"}\n');
		await write(`${runDir}/gsm8k/artifacts/rollouts_materialized_inputs.jsonl`, "1\n2\n3\n");
		await write(`${runDir}/gsm8k/artifacts/rollouts.jsonl`, Buffer.concat([Buffer.from("seen\n"), bytes]));
		await write(`${runDir}/submit.ids`, "aime\t11\t\ngsm8k\t12\tc1\ngsm8k\t13\t\ngsm8k\t1");
		await write(`${runDir}/aime/control`, "");
		const { runs } = await observe([query("gsm8k", { rolloutsOffset: 5 }), query("aime"), query("never")]);
		expect(runs.get(`${runDir}/gsm8k`)).toEqual({
			exists: true,
			ends: new Map([
				["12", "exit=0 why=finished\n"],
				["13", "exit=85 why=time\n"],
			]),
			chain: '{"event":"é"}\n',
			control: "stop\n",
			chainFiles: new Map(),
			recordedIds: ["12", "13"],
			expected: 3,
			rollouts: bytes,
			rolloutsCut: false,
		});
		expect(runs.get(`${runDir}/aime`)).toMatchObject({
			exists: true,
			control: "",
			chainFiles: new Map(),
			recordedIds: ["11"],
			rollouts: null,
		});
		expect(runs.get(`${runDir}/never`)).toMatchObject({ exists: false, control: null, recordedIds: [] });
	});

	describe("rollouts that are more than a look carries", () => {
		const file = (name: string) => `${runDir}/${name}/artifacts/rollouts.jsonl`;
		const rows = (count: number, length: number) =>
			Buffer.alloc(count * length, `${"x".repeat(length - 1)}\n`);
		const carried = async (offsets: Readonly<Record<string, number>>) => {
			const queries = Object.entries(offsets).map(([name, rolloutsOffset]) =>
				query(name, { rolloutsOffset }),
			);
			const { runs } = await observe(queries);
			return (name: string) => {
				const { rollouts, rolloutsCut } = runs.get(`${runDir}/${name}`)!;
				return [rollouts?.length ?? null, rolloutsCut];
			};
		};

		test("a run gets what the others leave, wherever it stands", async () => {
			await write(file("large"), Buffer.alloc(ROLLOUTS_LIMIT, "x\n"));
			await write(file("small"), Buffer.from("1\n22\n"));
			const seen = await carried({ large: 0, small: 2, none: 0 });
			expect(seen("small")).toEqual([3, false]);
			expect(seen("large")).toEqual([ROLLOUTS_LIMIT - 3, true]);
			expect(seen("none")).toEqual([null, false]);
			expect((await carried({ large: 3, small: 2 }))("large")).toEqual([ROLLOUTS_LIMIT - 3, false]);
		});

		test("two large ones share alike", async () => {
			for (const name of ["one", "two"]) await write(file(name), rows(3, ROLLOUTS_LIMIT / 4));
			const seen = await carried({ one: 0, two: 0 });
			expect(seen("one")).toEqual([ROLLOUTS_LIMIT / 2, true]);
			expect(seen("two")).toEqual([ROLLOUTS_LIMIT / 2, true]);
		});

		test("a row that is longer than the share of its run comes whole", async () => {
			const long = (ROLLOUTS_LIMIT / 4) * 3;
			await write(file("long"), rows(2, long));
			await write(file("other"), rows(200, ROLLOUTS_LIMIT / 100));
			const seen = await carried({ long: 0, other: 0 });
			expect(seen("long")).toEqual([long, true]);
			expect(seen("other")).toEqual([ROLLOUTS_LIMIT - long, true]);
		});

		test("nothing is carried beyond the limit", async () => {
			await write(file("endless"), Buffer.alloc(ROLLOUTS_LIMIT + 1, "x"));
			expect((await carried({ endless: 0 }))("endless")).toEqual([ROLLOUTS_LIMIT, true]);
			expect((await carried({ endless: 1 }))("endless")).toEqual([ROLLOUTS_LIMIT, false]);
			expect((await carried({ endless: ROLLOUTS_LIMIT + 9 }))("endless")).toEqual([0, false]);
		});
	});

	test("looking leaves no trace", async () => {
		const outputPath = join(slurm.folder, "not/there/yet");
		await observe([query("gsm8k")], { outputPath, mountSources: ["/no"] });
		expect(await readdir(slurm.folder)).toEqual(["bin", "fake"]);
		await expect(stat(outputPath)).rejects.toMatchObject({ code: "ENOENT" });
		expect(await slurm.calls("scancel")).toEqual([]);
		expect(await slurm.calls("sbatch")).toEqual([]);
	});
});

describe("preflight", () => {
	test("an output path that can be made, and each missing mount source by its name", async () => {
		const mountSources = [slurm.folder, "/no such/$(touch x)", "/nor/'that'"];
		const outputPath = join(slurm.folder, "a b/c");
		const { preflight } = await observe([], { outputPath, mountSources });
		expect(preflight).toMatchObject({
			sbatch: true,
			pyxis: false,
			writable: true,
			missingMounts: ["/no such/$(touch x)", "/nor/'that'"],
		});
	});

	test("an output path below a file cannot be made", async () => {
		await writeFile(join(slurm.folder, "file"), "");
		const { preflight } = await observe([], { outputPath: join(slurm.folder, "file/out"), mountSources: [] });
		expect(preflight).toMatchObject({ writable: false, missingMounts: [] });
	});

	test("Pyxis is there when srun knows its flags", async () => {
		await writeFile(join(slurm.folder, "bin/srun"), "#!/bin/bash\necho '  --container-image=x'\n", {
			mode: 0o755,
		});
		const { preflight } = await observe([], { outputPath: slurm.folder, mountSources: [] });
		expect(preflight).toMatchObject({ pyxis: true });
	});
});

describe("limits", () => {
	const preflight = () => ({ outputPath: slurm.folder, mountSources: [] });

	test("come with the same look", async () => {
		await slurm.on(
			"scontrol",
			`case $* in *partition*) echo 'PartitionName=gpu State=UP TotalNodes=2' ;; *) echo 'AccountingStorageEnforce = none' ;; esac; exit 0`,
		);
		await slurm.on("sinfo", "echo 'node1|gpu*|gpu:8'; exit 0");
		await slurm.on(
			"sacctmgr",
			`case $* in *assoc*user=${USER}*) echo 'c1|acct||normal|||' ;; *qos*) echo 'normal|||||' ;; esac; exit 0`,
		);
		const { limits } = (await observe([], preflight())).preflight!;
		expect(limits).toMatchObject({
			partitions: [{ name: "gpu", totalNodes: 2 }],
			nodes: [{ node: "node1", partition: "gpu", gpus: 8 }],
			associations: [{ cluster: "c1", account: "acct" }],
			qos: [{ name: "normal" }],
			settings: { enforced: [] },
		});
	});

	test("without an answer nothing is known, and nobody is asked twice", async () => {
		await slurm.on("scontrol", "echo 'PartitionName=half'; exit 1");
		const { limits } = (await observe([], preflight())).preflight!;
		expect(limits).toEqual({ partitions: null, nodes: null, associations: null, qos: null, settings: null });
		expect(await slurm.calls("sacctmgr")).toHaveLength(2);
		expect(await slurm.calls("sleep")).toEqual([]);
	});

	test("only a preflight asks for them", async () => {
		await observe([query("gsm8k")]);
		for (const program of ["scontrol", "sinfo", "sacctmgr"]) expect(await slurm.calls(program)).toEqual([]);
	});
});

test("shellcheck is content with the script", () => {
	const preflight = { outputPath: "/o p", mountSources: ["/a b"] };
	expect(
		shellcheck(observeScript([query("x", { rolloutsOffset: 3 }), query("y", { jobIds: [] })], preflight)),
	).toBe("");
	expect(shellcheck(observeScript([query("x")], null))).toBe("");
});
