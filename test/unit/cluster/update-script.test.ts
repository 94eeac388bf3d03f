/** The update exchange, run for real in bash against stand-ins for Slurm's programs. */
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { JobUpdate } from "../../../src/cluster/scheduler.ts";
import { updateScript } from "../../../src/cluster/slurm/update-script.ts";
import { noPoints } from "../../../src/points.ts";
import { type FakeSlurm, fakeSlurm, schedulerOn, shellcheck, USER } from "./fake-slurm.ts";

const BUDGET = '{"max_retries":5,"max_walltime":null,"no_progress":3}\n';

let slurm: FakeSlurm;
let dir: string;
beforeEach(async () => {
	slurm = await fakeSlurm();
	dir = join(slurm.folder, "out/gym-job-1/gsm8k");
	await mkdir(dir, { recursive: true });
	await writeFile(join(dir, "budget.json"), "old", { mode: 0o600 });
});

function request(more: Partial<JobUpdate> = {}): JobUpdate {
	const files = new Map([["budget.json", { text: BUDGET, mode: 0o600 }]]);
	return { jobDir: dir, files, queued: new Map(), ...more };
}

const told = new Map([
	["TimeLimit", "08:00:00"],
	["Comment", 'it\'s "mine"; $(exit)'],
]);

function update(...updates: readonly JobUpdate[]) {
	return schedulerOn(slurm).update(updates);
}

const job = (id: number, state: string, where = dir, user = USER) =>
	slurm.add({ id, state, reason: "Priority", user, dir: where });

test("files are replaced whole, for their owner alone, and no job is touched", async () => {
	await job(1, "PENDING");
	expect(await update(request())).toEqual([{ jobDir: dir, jobIds: [], error: null }]);
	expect(await readFile(join(dir, "budget.json"), "utf8")).toBe(BUDGET);
	expect((await stat(join(dir, "budget.json"))).mode & 0o777).toBe(0o600);
	expect(await slurm.calls("scontrol")).toEqual([]);
});

test("exactly the user's own pending jobs of the directory are told, after the files", async () => {
	await job(1, "RUNNING");
	await job(2, "PENDING");
	await job(3, "PENDING", `${dir}2`);
	await job(4, "PENDING", dir, "somebody");
	await job(5, "COMPLETED");
	await slurm.on("squeue", "[[ $* != *PENDING* ]] || sed -i '/|PENDING|/!d' \"$FAKE/queue\"");
	await slurm.on("scontrol", `cat '${dir}/budget.json' >>'${slurm.folder}/seen'`);
	expect(await update(request({ queued: told }))).toEqual([{ jobDir: dir, jobIds: ["2"], error: null }]);
	expect(await slurm.calls("scontrol")).toEqual([
		`update JobId=2 TimeLimit=08:00:00 Comment=it's "mine"; $(exit)`,
	]);
	expect(await readFile(join(slurm.folder, "seen"), "utf8")).toBe(BUDGET);
});

test("several runs are one exchange, each with its own words", async () => {
	const other = join(slurm.folder, "out/gym-job-2/aime");
	await mkdir(other, { recursive: true });
	await job(1, "PENDING");
	await job(2, "PENDING", other);
	const outcomes = await update(
		request({ queued: told }),
		request({ jobDir: other, queued: new Map([["TimeLimit", "1:00"]]) }),
	);
	expect(outcomes.map(({ jobIds }) => jobIds)).toEqual([["1"], ["2"]]);
	expect(await slurm.calls("scontrol")).toContain("update JobId=2 TimeLimit=1:00");
});

test("Slurm's own words say why a pending job was not changed; one that has started is passed over", async () => {
	await job(1, "PENDING");
	await slurm.on("scontrol", "echo 'slurm_update error: Access/permission denied' >&2; exit 1");
	expect(await update(request({ queued: told }))).toEqual([
		{ jobDir: dir, jobIds: [], error: "slurm_update error: Access/permission denied" },
	]);
	await slurm.on("scontrol", `sed -i 's/|PENDING|/|RUNNING|/' "$FAKE/queue"; exit 1`);
	expect(await update(request({ queued: told }))).toEqual([{ jobDir: dir, jobIds: [], error: null }]);
});

test("a queue that does not answer stops it, after the files", async () => {
	await slurm.on("squeue", "exit 1");
	await expect(update(request({ queued: told }))).rejects.toMatchObject({
		exit: "failure",
		problems: [{ code: "update-failed" }],
	});
	expect(await readFile(join(dir, "budget.json"), "utf8")).toBe(BUDGET);
});

test("a file that cannot be written leaves the queue alone", async () => {
	await job(1, "PENDING");
	const gone = request({ jobDir: `${dir}/gone`, queued: told });
	await expect(update(gone)).rejects.toMatchObject({ exit: "failure" });
	expect(await slurm.calls("scontrol")).toEqual([]);
});

test("shellcheck finds nothing", async () => {
	await shellcheck(updateScript([request({ queued: told }), request()], noPoints));
});
