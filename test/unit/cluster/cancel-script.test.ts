/** The cancel exchange, run for real in bash against stand-ins for Slurm's programs. */
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { cancelScript } from "../../../src/cluster/slurm/cancel-script.ts";
import { noPoints } from "../../../src/points.ts";
import { type FakeSlurm, fakeSlurm, schedulerOn, shellcheck, USER } from "./fake-slurm.ts";

let slurm: FakeSlurm;
let dir: string;
beforeEach(async () => {
	slurm = await fakeSlurm();
	dir = join(slurm.folder, "out/gym-job-1/gsm8k");
	await mkdir(dir, { recursive: true });
	await writeFile(join(dir, "control"), "", { mode: 0o600 });
});

function cancel(dirs: readonly string[] = [dir], before = "") {
	return schedulerOn(slurm, before).cancel(dirs);
}

const running = (id: number, where: string, user = USER) =>
	slurm.add({ id, state: "RUNNING", reason: "None", user, dir: where });

/** scancel leaves a job completing; it is gone after some more looks at the queue. */
async function endSlowly(looks: number): Promise<void> {
	await slurm.on(
		"scancel",
		`for id; do sed -i "s/^$id|[A-Z]*|/$id|COMPLETING|/" "$FAKE/queue"; done; exit 0`,
	);
	await slurm.on("squeue", `((count < ${looks})) || sed -i 's/|COMPLETING|/|CANCELLED|/' "$FAKE/queue"`);
}

test("exactly the user's own jobs of these directories are cancelled, after the mark", async () => {
	await running(1, dir);
	await running(2, `${dir}2`);
	await running(3, join(dir, "below"));
	await running(4, dir, "somebody");
	await slurm.add({ id: 5, state: "PENDING", reason: "Dependency", user: USER, dir });
	await slurm.on("scancel", `cat '${dir}/control' >>'${slurm.folder}/mark'`);
	const outcome = await cancel();
	expect([...outcome.cancelled.get(dir)!].sort()).toEqual(["1", "5"]);
	expect(outcome.left).toEqual([]);
	expect([...(await slurm.calls("scancel"))].sort()).toEqual(["1", "5"]);
	expect(await readFile(join(slurm.folder, "mark"), "utf8")).toMatch(/^stop\n/);
	expect((await slurm.jobs()).map((job) => job.state)).toEqual([
		"CANCELLED",
		"RUNNING",
		"RUNNING",
		"RUNNING",
		"CANCELLED",
	]);
});

test("a completing job is waited for, and not cancelled again", async () => {
	await running(1, dir);
	await endSlowly(6);
	const outcome = await cancel();
	expect(outcome.left).toEqual([]);
	expect(await slurm.calls("scancel")).toEqual(["1"]);
	expect((await slurm.calls("squeue")).length).toBeGreaterThanOrEqual(7);
});

test("a successor that shows up late is cancelled too: two listings in a row must be empty", async () => {
	await running(1, dir);
	await slurm.on("squeue", `((count != 3)) || echo '2|PENDING|Priority|${USER}|${dir}' >>"$FAKE/queue"`);
	const outcome = await cancel();
	expect([...outcome.cancelled.get(dir)!].sort()).toEqual(["1", "2"]);
	expect((await slurm.calls("squeue")).length).toBe(5);
});

test("an unanswered look is not an empty one", async () => {
	await slurm.on(
		"squeue",
		`((count != 2)) || exit 1; ((count != 4)) || echo '2|RUNNING|None|${USER}|${dir}' >>"$FAKE/queue"`,
	);
	expect((await cancel()).cancelled.get(dir)).toEqual(["2"]);
});

test("a queue that does not answer is a failure", async () => {
	await running(1, dir);
	await slurm.on("squeue", "exit 1");
	await expect(cancel()).rejects.toMatchObject({ exit: "failure", problems: [{ code: "cancel-failed" }] });
	expect(await slurm.calls("scancel")).toEqual([]);
	expect(await readFile(join(dir, "control"), "utf8")).toBe("stop\n");
});

test("a job that does not go away is left, and its secrets with it", async () => {
	await writeFile(join(dir, ".env"), "x");
	await running(1, dir);
	await endSlowly(100_000);
	// Each look costs a process: the clock of the exchange is its count of looks.
	const outcome = await cancel();
	expect(outcome.left).toEqual([dir]);
	expect(await readFile(join(dir, ".env"), "utf8")).toBe("x");
});

test("secrets go when the jobs are gone", async () => {
	await writeFile(join(dir, ".env"), "x");
	await running(1, dir);
	await cancel();
	await expect(stat(join(dir, ".env"))).rejects.toMatchObject({ code: "ENOENT" });
});

test("directories with any name, one that was never staged, and filters of the user", async () => {
	const odd = join(slurm.folder, "a|b  ü'\"$(touch no)/gym-job-1/x");
	await mkdir(odd, { recursive: true });
	await running(1, odd);
	const outcome = await cancel([odd, "/nowhere/gym-job-1/x"], "umask 000; export SQUEUE_PARTITION=x");
	expect(outcome.cancelled.get(odd)).toEqual(["1"]);
	expect(outcome.cancelled.get("/nowhere/gym-job-1/x")).toEqual([]);
	expect((await stat(join(odd, "control"))).mode & 0o022).toBe(0);
});

test("it waits for a submit exchange that is still at work", async () => {
	const lock = join(dir, "../submit.lock");
	await writeFile(lock, "");
	// The other exchange has the lock; it queues a job before it lets go.
	await writeFile(
		join(slurm.folder, "bin/flock"),
		`#!/bin/bash\nprintf '%s\\n' "$*" >>'${slurm.folder}/fake/calls.flock'\necho '9|PENDING|JobHeldUser|${USER}|${dir}' >>'${slurm.folder}/fake/queue'\n`,
		{ mode: 0o755 },
	);
	expect((await cancel()).cancelled.get(dir)).toEqual(["9"]);
	expect(await slurm.calls("flock")).toEqual([
		`-w 120 ${join(slurm.folder, "out/gym-job-1/submit.lock")} true`,
	]);
});

test("shellcheck is content with the script", () => {
	expect(shellcheck(cancelScript(["/o p/a"], noPoints))).toBe("");
	expect(shellcheck(cancelScript(["/a", "/b"], noPoints))).toBe("");
});
