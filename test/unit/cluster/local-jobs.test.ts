/** Jobs as processes of this machine: their order, their end, and that nothing of them outlives it. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	buildPrograms,
	isRunning,
	type LocalWorld,
	localWorld,
	type Programs,
	processesWith,
	waitFor,
} from "./local-world.ts";

let programs: Programs;
beforeAll(async () => {
	programs = await buildPrograms();
});
afterAll(() => programs.remove());

/** Runs until it is told to end, without a foreground command that would put traps off. */
const WAITS = `echo $$ >pid
until [[ -e go ]]; do sleep 0.05; done
`;

/** Starts a program that ignores TERM, in a session of its own, and waits. */
const STUBBORN = `setsid bash -c 'trap "" TERM; echo $$ >stubborn; while :; do sleep 0.1; done' &
trap 'echo stopped >told; exit 143' TERM
while :; do sleep 0.1 & wait $!; done
`;

async function pidIn(world: LocalWorld, path: string): Promise<number> {
	return Number(await world.text(path));
}

describe("turns", () => {
	test("one job at a time, in the order of submission", async () => {
		const world = await localWorld(programs);
		const note = (what: string) => `echo ${what} >>../order\n`;
		const waiting = ["b", "d", "a", "c", "e"];
		await world.scheduler.submit(
			world.submission("run", {
				first: `${note("first begins")}${WAITS}${note("first ends")}`,
				...Object.fromEntries(waiting.map((name) => [name, `${note(name)}${note(name)}`])),
			}),
		);
		await pidIn(world, "run/first/pid");
		expect((await world.queue()).get(`${world.outputPath}/run/b`)).toMatchObject({
			jobId: "2",
			state: "PENDING",
			reason: "Resources",
		});
		await writeFile(join(world.outputPath, "run/first/go"), "");
		await world.until("run/e", "COMPLETED");
		const order = ["first begins", "first ends", ...waiting.flatMap((name) => [name, name])];
		expect(await world.text("run/order")).toBe(`${order.join("\n")}\n`);
	});

	test("a killed supervisor is a failed node, what it left is ended, and the next job goes on", async () => {
		const world = await localWorld(programs);
		await world.scheduler.submit(world.submission("run", { first: WAITS, second: "echo $(ls ..) >seen\n" }));
		const script = await pidIn(world, "run/first/pid");
		const { pid } = JSON.parse(await world.text(".gym-local/jobs/1/supervisor.json"));
		process.kill(pid, "SIGKILL");
		await world.until("run/first", "NODE_FAIL");
		await world.until("run/second", "COMPLETED");
		expect(isRunning(script)).toBe(false);
		const { accounting } = await world.scheduler.observe(
			[
				{
					jobDir: `${world.outputPath}/run/first`,
					runDir: `${world.outputPath}/run`,
					jobIds: ["1"],
					rolloutsOffset: null,
				},
			],
			null,
		);
		expect(accounting).toMatchObject([{ jobId: "1", state: "NODE_FAIL", exitCode: null }]);
	});

	test("a job that was held while a later one ran waits for it", async () => {
		const world = await localWorld(programs);
		const killed = await world.submitter({
			run: "one",
			scripts: { late: "[[ ! -e ../../two/early/pid || -e ../../two/early/go ]] && echo alone >seen\n" },
			killAt: "submit.recorded",
			nth: 1,
		});
		expect(await killed.submit()).toBeNull();
		expect(await world.until("one/late", "PENDING")).toMatchObject({ jobId: "1", reason: "JobHeldUser" });
		await world.scheduler.submit(world.submission("two", { early: WAITS }));
		await pidIn(world, "two/early/pid");
		const again = await world.submitter({
			run: "one",
			scripts: { late: "unused\n" },
			killAt: null,
			nth: 0,
		});
		expect(await again.submit()).toEqual(["1"]);
		expect((await world.queue()).get(`${world.outputPath}/one/late`)?.state).toBe("PENDING");
		await writeFile(join(world.outputPath, "two/early/go"), "");
		await world.until("one/late", "COMPLETED");
		expect(await world.text("one/late/seen")).toBe("alone\n");
	});
});

describe("the end of a script", () => {
	test("its exit code, its signal and its output are kept", async () => {
		const world = await localWorld(programs);
		await world.scheduler.submit(
			world.submission("run", { three: "echo out; echo err >&2; exit 3\n", killed: "kill -KILL $$\n" }),
		);
		await world.until("run/killed", "FAILED");
		expect(await world.text("run/three/logs/job-1.log")).toBe("out\nerr\n");
		const query = (name: string) => ({
			jobDir: `${world.outputPath}/run/${name}`,
			runDir: `${world.outputPath}/run`,
			jobIds: [],
			rolloutsOffset: null,
		});
		const { accounting } = await world.scheduler.observe([query("three"), query("killed")], null);
		expect(accounting).toMatchObject([
			{ jobId: "1", state: "FAILED", exitCode: 3, signal: null },
			{ jobId: "2", state: "FAILED", exitCode: 137, signal: 9 },
		]);
	});

	test("what it leaves running is ended, in other sessions and without its environment too", async () => {
		const world = await localWorld(programs);
		const script = `setsid bash -c 'trap "" TERM; echo $$ >marked; while :; do sleep 0.1; done' &
env -i "$(type -P bash)" -c 'echo $$ >bare; while :; do /bin/sleep 0.1; done' &
until [[ -s marked && -s bare ]]; do sleep 0.05; done
`;
		await world.scheduler.submit(world.submission("run", { leaves: script }));
		await world.until("run/leaves", "COMPLETED");
		expect(isRunning(await pidIn(world, "run/leaves/marked"))).toBe(false);
		expect(isRunning(await pidIn(world, "run/leaves/bare"))).toBe(false);
	});

	test("a warning before the time limit, TERM and the end of all at it", async () => {
		const world = await localWorld(programs);
		const script = `trap 'echo warned >>heard' USR1\n${STUBBORN}`;
		await world.scheduler.submit(world.submission("run", { slow: script }, { walltime: 3 }));
		await world.until("run/slow", "TIMEOUT");
		expect(await world.text("run/slow/heard")).toBe("warned\n");
		expect(await world.text("run/slow/told")).toBe("stopped\n");
		expect(isRunning(await pidIn(world, "run/slow/stubborn"))).toBe(false);
	});
});

describe("cancelling", () => {
	test("a waiting job never runs", async () => {
		const world = await localWorld(programs);
		await world.scheduler.submit(world.submission("run", { first: WAITS, second: "echo ran >ran\n" }));
		await pidIn(world, "run/first/pid");
		const second = `${world.outputPath}/run/second`;
		const outcome = await world.scheduler.cancel([second]);
		expect(outcome).toMatchObject({ cancelled: new Map([[second, ["2"]]]), left: [] });
		await writeFile(join(world.outputPath, "run/first/go"), "");
		await world.until("run/first", "COMPLETED");
		expect(await world.until("run/second", "CANCELLED")).toMatchObject({ startsAt: null, nodeList: null });
		await expect(stat(join(second, "ran"))).rejects.toThrow("ENOENT");
	});

	test("a running job hears TERM, and what ignores it is killed; others are not touched", async () => {
		const world = await localWorld(programs);
		await world.scheduler.submit(world.submission("run", { mine: STUBBORN, other: "true\n" }));
		const stubborn = await pidIn(world, "run/mine/stubborn");
		const mine = `${world.outputPath}/run/mine`;
		expect((await world.scheduler.cancel([mine])).cancelled).toEqual(new Map([[mine, ["1"]]]));
		expect(isRunning(stubborn)).toBe(false);
		expect(await world.text("run/mine/told")).toBe("stopped\n");
		expect(await readFile(join(mine, "control"), "utf8")).toBe("stop\n");
		await expect(stat(join(mine, ".env"))).rejects.toThrow("ENOENT");
		await world.until("run/other", "COMPLETED");
	});

	test("what a killed supervisor left is ended, and the job is cancelled", async () => {
		const world = await localWorld(programs);
		await world.scheduler.submit(world.submission("run", { orphan: STUBBORN }));
		const stubborn = await pidIn(world, "run/orphan/stubborn");
		const { pid } = JSON.parse(await world.text(".gym-local/jobs/1/supervisor.json"));
		process.kill(pid, "SIGKILL");
		await world.until("run/orphan", "NODE_FAIL");
		expect(isRunning(stubborn)).toBe(true); // a look ends nothing
		const orphan = `${world.outputPath}/run/orphan`;
		expect((await world.scheduler.cancel([orphan])).cancelled).toEqual(new Map([[orphan, ["1"]]]));
		expect(isRunning(stubborn)).toBe(false);
		expect(await processesWith(world.outputPath)).toEqual([]);
		await world.until("run/orphan", "CANCELLED");
	});

	test("a new job takes the place of a running one only when that has ended", async () => {
		const world = await localWorld(programs);
		await world.scheduler.submit(world.submission("old", { math: STUBBORN }));
		const stubborn = await pidIn(world, "old/math/stubborn");
		const replaces = [`${world.outputPath}/old/math`];
		const next = world.submission("new", { math: "echo ran >ran\n" }, { knownDirs: replaces });
		await world.scheduler.submit({ ...next, jobs: next.jobs.map((job) => ({ ...job, replaces })) });
		expect(isRunning(stubborn)).toBe(false);
		await waitFor(async () => expect((await world.queue()).get(replaces[0]!)?.state).toBe("CANCELLED"));
		await world.until("new/math", "COMPLETED");
	});
});
