/** What a look at this machine's jobs and their files says. */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROLLOUTS_LIMIT } from "../../../src/cluster/scheduler.ts";
import { buildPrograms, type LocalWorld, localWorld, type Programs } from "./local-world.ts";

let programs: Programs;
beforeAll(async () => {
	programs = await buildPrograms();
});
afterAll(() => programs.remove());

function query(world: LocalWorld, rolloutsOffset: number | null) {
	const runDir = `${world.outputPath}/run`;
	return { jobDir: `${runDir}/alpha`, runDir, jobIds: ["1"], rolloutsOffset };
}

test("a run that is not there, on an output path that is not there", async () => {
	const world = await localWorld(programs);
	const mountSources = ["/", "/no/such"];
	const seen = await world.scheduler.observe([query(world, 0)], {
		outputPath: world.outputPath,
		mountSources,
	});
	expect(seen).toMatchObject({
		queue: [],
		accounting: [],
		preflight: { sbatch: true, pyxis: true, writable: true, missingMounts: ["/no/such"] },
	});
	expect(seen.runs.get(`${world.outputPath}/run/alpha`)).toEqual({
		exists: false,
		ends: new Map(),
		chain: null,
		control: null,
		chainFiles: new Map(),
		recordedIds: [],
		expected: null,
		rollouts: null,
		rolloutsCut: false,
	});
});

test("an output path below a file cannot be made", async () => {
	const world = await localWorld(programs);
	await mkdir(world.outputPath);
	const file = join(world.outputPath, "file");
	await writeFile(file, "");
	const { preflight } = await world.scheduler.observe([], { outputPath: `${file}/x`, mountSources: [] });
	expect(preflight?.writable).toBe(false);
});

/** A look at runs whose rollouts are `files`; bytes carried of each, and whether it goes on. */
async function carried(files: Readonly<Record<string, Uint8Array>>) {
	const world = await localWorld(programs);
	const runDir = `${world.outputPath}/run`;
	const queries = Object.keys(files).map((name) => ({ ...query(world, 0), jobDir: `${runDir}/${name}` }));
	for (const [name, bytes] of Object.entries(files)) {
		await mkdir(`${runDir}/${name}/artifacts`, { recursive: true });
		await writeFile(`${runDir}/${name}/artifacts/rollouts.jsonl`, bytes);
	}
	const { runs } = await world.scheduler.observe(queries, null);
	return queries.map(({ jobDir }) => {
		const { rollouts, rolloutsCut } = runs.get(jobDir)!;
		return [rollouts?.length, rolloutsCut];
	});
}

const rows = (count: number, length: number) => Buffer.alloc(count * length, `${"x".repeat(length - 1)}\n`);

test("rollouts: a run gets what the others leave", async () => {
	const large = Buffer.alloc(ROLLOUTS_LIMIT, "x\n");
	expect(await carried({ large, small: Buffer.from("1\n2") })).toEqual([
		[ROLLOUTS_LIMIT - 3, true],
		[3, false],
	]);
	expect(await carried({ large })).toEqual([[ROLLOUTS_LIMIT, false]]);
});

test("rollouts: a row that is longer than its run's share comes whole", async () => {
	const long = (ROLLOUTS_LIMIT / 4) * 3;
	expect(await carried({ long: rows(2, long), other: rows(200, ROLLOUTS_LIMIT / 100) })).toEqual([
		[long, true],
		[ROLLOUTS_LIMIT - long, true],
	]);
	expect(await carried({ endless: Buffer.alloc(ROLLOUTS_LIMIT + 1, "x") })).toEqual([[ROLLOUTS_LIMIT, true]]);
});

test("a run's files, and rollouts from an offset on", async () => {
	const world = await localWorld(programs);
	const script = `echo 'exit=0 why=finished at=5 name=' >"ends/$SLURM_JOB_ID"
echo half >"ends/$SLURM_JOB_ID.new"
echo '{}' >chain.jsonl
printf '1\\n2\\n3\\n' >artifacts/rollouts_materialized_inputs.jsonl
printf 'abc\\ndef\\n' >artifacts/rollouts.jsonl
`;
	await world.scheduler.submit(world.submission("run", { alpha: script, beta: "true\n" }));
	await world.until("run/beta", "COMPLETED");
	const look = async (offset: number | null) =>
		(await world.scheduler.observe([query(world, offset)], null)).runs.get(`${world.outputPath}/run/alpha`)!;
	const { rollouts, ...files } = await look(4);
	expect(files).toEqual({
		exists: true,
		ends: new Map([["1", "exit=0 why=finished at=5 name=\n"]]),
		chain: "{}\n",
		control: "",
		chainFiles: new Map(),
		recordedIds: ["1"],
		expected: 3,
		rolloutsCut: false,
	});
	expect(Buffer.from(rollouts!).toString()).toBe("def\n");
	expect((await look(100)).rollouts).toHaveLength(0);
	expect(await look(null)).toMatchObject({ expected: null, rollouts: null });
});

test("what cannot be read in a run's directory has not been seen", async () => {
	const world = await localWorld(programs);
	const jobDir = `${world.outputPath}/run/alpha`;
	const folders = ["chain.jsonl", "control", "budget.json", "ends/1"];
	for (const name of folders) await mkdir(join(jobDir, name), { recursive: true });
	const { runs } = await world.scheduler.observe([query(world, 0)], null);
	expect(runs.get(jobDir)).toMatchObject({
		exists: true,
		ends: new Map(),
		chain: null,
		control: null,
		chainFiles: new Map(),
	});
});

test("a mark that cannot be made is told: nothing was cancelled", async () => {
	const world = await localWorld(programs);
	const jobDir = `${world.outputPath}/run/alpha`;
	await mkdir(join(jobDir, "control"), { recursive: true });
	await expect(world.scheduler.cancel([jobDir])).rejects.toMatchObject({
		problems: [{ code: "cancel-failed", message: expect.stringContaining("EISDIR") }],
	});
});

test("logs: the last lines first, then only what is new", async () => {
	const world = await localWorld(programs);
	const jobDir = `${world.outputPath}/run/alpha`;
	expect(await world.scheduler.logs(jobDir, new Map(), 2)).toEqual([]);
	await mkdir(join(jobDir, "logs"), { recursive: true });
	await writeFile(join(jobDir, "logs/driver-1.log"), "one\ntwo\nthree\nfo");
	const [first] = await world.scheduler.logs(jobDir, new Map(), 2);
	expect(first).toEqual({ file: "driver-1.log", size: 16, text: "three\nfo" });
	const offsets = new Map([[first!.file, first!.size]]);
	expect(await world.scheduler.logs(jobDir, offsets, 2)).toEqual([]);
	await appendFile(join(jobDir, "logs/driver-1.log"), "ur\n");
	expect(await world.scheduler.logs(jobDir, offsets, 2)).toEqual([
		{ file: "driver-1.log", size: 19, text: "ur\n" },
	]);
});
