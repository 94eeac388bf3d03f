/** What the submit exchange does for a chain that goes on: run for real in bash against stand-ins for Slurm's programs. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { COUNTER_FILES } from "../../../src/cluster/scheduler.ts";
import { type FakeSlurm, fakeSlurm, USER } from "./fake-slurm.ts";
import { submit } from "./submit-run.ts";

let slurm: FakeSlurm;
let dir: string;
beforeEach(async () => {
	slurm = await fakeSlurm();
	dir = join(slurm.folder, "out/gym-job-1/gsm8k");
	await mkdir(dir, { recursive: true });
	for (const name of COUNTER_FILES) await writeFile(join(dir, name), "2\n");
	await writeFile(join(slurm.folder, "out/gym-job-1/submit.ids"), "gsm8k\t7\t\n");
});

const counters = async () => (await readdir(dir)).filter((name) => name.startsWith(".gym_")).sort();

test("its script gets the job after which it goes on; what it has used up stays", async () => {
	const { jobs } = await submit(slurm, { jobs: [{ knownIds: ["7"], previous: "7" }] });
	expect(jobs).toMatchObject([{ jobId: "101", error: null }]);
	expect((await slurm.calls("sbatch"))[0]).toMatch(/gsm8k\/job\.sh 7$/);
	expect(await counters()).toEqual([...COUNTER_FILES].sort());
});

test("a chain that begins has no argument", async () => {
	await submit(slurm, { runDir: join(slurm.folder, "out/gym-job-2") });
	expect((await slurm.calls("sbatch"))[0]).toMatch(/gsm8k\/job\.sh$/);
});

test("its counters go when they are to start anew, before the job is there", async () => {
	await slurm.on("sbatch", `ls -a '${dir}' >'${slurm.folder}/seen'`);
	await submit(slurm, { jobs: [{ knownIds: ["7"], previous: "7", resetCounters: true }] });
	expect(await readFile(join(slurm.folder, "seen"), "utf8")).not.toContain(".gym_");
});

test("asking again for a job that is there resets nothing of what it has used up since", async () => {
	const wanted = { jobs: [{ knownIds: ["7"], previous: "7", resetCounters: true }] };
	await submit(slurm, wanted);
	await writeFile(join(dir, ".gym_infra_retries"), "1\n");
	const { jobs } = await submit(slurm, wanted);
	expect(jobs).toMatchObject([{ jobId: "101" }]);
	expect(await counters()).toEqual([".gym_infra_retries"]);
	expect(await slurm.calls("sbatch")).toHaveLength(1);
});

test("a successor that waits for what cannot come is neither taken for the next job nor left there", async () => {
	const reason = "DependencyNeverSatisfied";
	await slurm.add({ id: 8, state: "PENDING", reason, user: USER, dir });
	await slurm.add({ id: 9, state: "PENDING", reason, user: "somebody", dir });
	await slurm.add({ id: 10, state: "PENDING", reason, user: USER, dir: `${dir}2` });
	const { jobs } = await submit(slurm, { jobs: [{ knownIds: ["7"], previous: "7" }] });
	expect(jobs).toMatchObject([{ jobId: "101" }]);
	expect(await slurm.calls("scancel")).toEqual(["8"]);
});
