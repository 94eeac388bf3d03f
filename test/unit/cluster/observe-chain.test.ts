/** What a look brings of a chain: its files, and accounting of the jobs that it queued itself. Real bash, stand-ins for Slurm. */
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type FakeSlurm, fakeSlurm } from "./fake-slurm.ts";
import { look, queryFor, write } from "./observe-run.ts";

let slurm: FakeSlurm;
let runDir: string;
beforeEach(async () => {
	slurm = await fakeSlurm();
	runDir = join(slurm.folder, "my|evals ü'$(touch no)/gym-job-1");
});

const asked = async () => / -j (\S*) /.exec((await slurm.calls("sacct"))[0] ?? "")?.[1];

test("counters and limits are read as they are", async () => {
	await write(`${runDir}/a/budget.json`, '{"max_retries":3}\n');
	await write(`${runDir}/a/.gym_infra_retries`, "2\n");
	const { runs } = await look(slurm, [queryFor(runDir, "a"), queryFor(runDir, "b")]);
	expect(runs.get(`${runDir}/a`)!.chainFiles).toEqual(
		new Map([
			["budget.json", '{"max_retries":3}\n'],
			[".gym_infra_retries", "2\n"],
		]),
	);
	expect(runs.get(`${runDir}/b`)!.chainFiles).toEqual(new Map());
});

test("jobs that only the files name are asked for with the others, in one question", async () => {
	await write(`${runDir}/a/ends/9`, "exit=85 why=timeout\n");
	await write(
		`${runDir}/a/chain.jsonl`,
		'{"job":9,"event":"next","next":"12"}\n{"job":12,"event":"previous","previous":"9"}\n{"job":13,"ev',
	);
	await write(`${runDir}/b/ends/x1`, "");
	await look(slurm, [queryFor(runDir, "a", { jobIds: ["7"] }), queryFor(runDir, "b", { jobIds: ["8"] })]);
	expect(await asked()).toBe("7,8,9,12,13");
	expect(new Set(await slurm.calls("sacct")).size).toBe(1);
});

test("so they are when the state knows of no job", async () => {
	await write(`${runDir}/a/ends/9`, "exit=85 why=timeout\n");
	await look(slurm, [queryFor(runDir, "a", { jobIds: [] })]);
	expect(await asked()).toBe("9");
});

test("a run without any job asks for none", async () => {
	await look(slurm, [queryFor(runDir, "a", { jobIds: [] })]);
	expect(await slurm.calls("sacct")).toEqual([]);
});

test("of a journal without end the newest jobs are asked for", async () => {
	const lines = Array.from({ length: 9000 }, (_, i) => `{"job":${i + 1},"at":1764510000,"event":"start"}\n`);
	await write(`${runDir}/a/chain.jsonl`, lines.join(""));
	const { runs } = await look(slurm, [queryFor(runDir, "a", { jobIds: ["1"] })]);
	const ids = (await asked())!.split(",");
	expect(ids).toHaveLength(501);
	expect([ids[0], ids.at(-1)]).toEqual(["1", "9000"]);
	expect(runs.get(`${runDir}/a`)!.chain!.length).toBe(256 * 1024);
});
