/** Chains that are cut off: crashes while a successor is queued leave no half of one, and cancelling leaves nothing. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { constants, mkdir, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	begin,
	jobFolder,
	killSupervisor,
	QUEUE,
	rows,
	SEGMENTS,
	states,
	textIn,
	untilStates,
	WAITS,
} from "./local-chain.ts";
import {
	buildPrograms,
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

describe("queueing that is cut off", () => {
	const next = (world: LocalWorld) =>
		spawn(process.execPath, [programs.supervisor, "next", jobFolder(world, 1)], { stdio: "ignore" });

	async function running() {
		const world = await localWorld(programs);
		await world.scheduler.submit(world.submission("run", { math: WAITS }));
		await world.text("run/math/pid-1");
		return { world, jobDir: `${world.outputPath}/run/math` };
	}

	test("by the death of who asks: there is a whole job or none, and who asks again gets one", async () => {
		const { world, jobDir } = await running();
		await writeFile(join(jobDir, "control"), "stop\n");
		const since = performance.now();
		await once(next(world), "exit"); // as slow as one that queues
		const whole = performance.now() - since;
		await writeFile(join(jobDir, "control"), "");
		for (const part of [0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]) {
			const asking = next(world);
			const exited = once(asking, "exit");
			await Promise.race([sleep(part * whole), exited]);
			asking.kill("SIGKILL");
			await exited;
			// What it started goes on without it, or not at all.
			const waiting = await waitFor(async () => {
				const dependent = (await rows(world)).filter(({ reason }) => reason === "Dependency");
				expect(await processesWith(`follow\0${jobFolder(world, 1)}`)).toHaveLength(dependent.length);
				return dependent;
			});
			expect(await states(world)).not.toContain("NODE_FAIL");
			for (const { jobId } of waiting) await killSupervisor(world, Number(jobId), "SIGTERM");
			await waitFor(async () => expect(await states(world)).not.toContain("PENDING"));
		}
		const asked = spawnSync(process.execPath, [programs.supervisor, "next", jobFolder(world, 1)]);
		const id = Number(asked.stdout);
		expect((await rows(world))[id - 1]).toMatchObject({ state: "PENDING", reason: "Dependency" });
		await writeFile(join(jobDir, "go"), "");
		await waitFor(async () =>
			expect(new Set(await states(world))).toEqual(new Set(["COMPLETED", "CANCELLED"])),
		);
	});

	test("within the environment: no job", async () => {
		const { world, jobDir } = await running();
		const temp = join(jobDir, ".entry.test");
		await mkdir(temp);
		const cut = spawnSync(process.execPath, [programs.supervisor, "follow", jobFolder(world, 1), temp], {
			input: '{"PATH":"/bin","TOK',
		});
		expect(cut.status).not.toBe(0);
		expect(await states(world)).toEqual(["RUNNING"]);
		await rm(temp, { recursive: true });
		await writeFile(join(jobDir, "go"), "");
		await untilStates(world, ["COMPLETED"]);
	});

	test("by the stop mark: no job, and the script is told", async () => {
		const { world, jobDir } = await running();
		await writeFile(join(jobDir, "control"), "stop\n");
		const asked = spawnSync(process.execPath, [programs.supervisor, "next", jobFolder(world, 1)]);
		expect(asked.status).toBe(1);
		expect(String(asked.stdout)).toBe("");
		expect(String(asked.stderr)).toContain("job 1 got no successor");
		expect(await states(world)).toEqual(["RUNNING"]);
		expect((await readdir(jobDir)).filter((name) => name.startsWith(".entry"))).toEqual([]);
		await writeFile(join(jobDir, "go"), "");
		await untilStates(world, ["COMPLETED"]);
	});

	test("by a stop mark that comes while the job is made: it ends by itself", async () => {
		const { world, jobDir } = await running();
		const control = join(jobDir, "control");
		await rm(control);
		execFileSync("mkfifo", [control]); // who reads it waits for us
		const answer = async (mark: string) => {
			const pipe = await open(control, constants.O_WRONLY | constants.O_NONBLOCK); // fails while nobody reads
			await pipe.writeFile(mark);
			await pipe.close();
		};
		const exited = once(next(world), "exit");
		try {
			await waitFor(() => answer("\n"));
			await untilStates(world, ["RUNNING", "PENDING"]);
			await waitFor(() => answer("stop\n"));
		} finally {
			await rm(control); // who opens it now would wait for ever
		}
		await untilStates(world, ["RUNNING", "CANCELLED"]);
		await exited;
		await writeFile(join(jobDir, "go"), "");
		await untilStates(world, ["COMPLETED", "CANCELLED"]);
	});

	test("by a supervisor that cannot start: its words, and no job", async () => {
		const { world, jobDir } = await running();
		const broken = join(world.outputPath, "broken.mjs");
		const text = await readFile(programs.supervisor, "utf8");
		await writeFile(broken, `if (process.argv[2] === "follow") throw new Error("no luck");\n${text}`);
		const asked = spawnSync(process.execPath, [broken, "next", jobFolder(world, 1)]);
		expect(asked.status).toBe(1);
		expect(String(asked.stderr)).toContain("no luck");
		expect(await states(world)).toEqual(["RUNNING"]);
		await writeFile(join(jobDir, "go"), "");
		await untilStates(world, ["COMPLETED"]);
	});
});

describe("cancelling a chain", () => {
	test("ends the running segment and the waiting one", async () => {
		const { world, jobDir } = await begin(programs, `${QUEUE}${WAITS}`);
		await world.text("run/math/pid-1");
		const outcome = await world.scheduler.cancel([jobDir]);
		expect(outcome).toMatchObject({ cancelled: new Map([[jobDir, ["1", "2"]]]), left: [] });
		expect(await states(world)).toEqual(["CANCELLED", "CANCELLED"]);
		expect(await processesWith(world.outputPath)).toEqual([]);
	});

	test.each([1, 2, 3, 5])("that is hopping, at its hop %i: nothing is left", async (hop) => {
		// It does not look at the stop mark, and is gone as soon as it has queued the next one.
		const { world, jobDir } = await begin(programs, `${SEGMENTS}${QUEUE}exit 1\n`);
		await waitFor(async () => expect(await textIn(jobDir, "segments")).toMatch(new RegExp(`^${hop} `, "m")));
		expect((await world.scheduler.cancel([jobDir])).left).toEqual([]);
		await waitFor(async () => expect(await processesWith(world.outputPath)).toEqual([]));
		const ended = await states(world);
		expect(ended.filter((state) => state !== "FAILED" && state !== "CANCELLED")).toEqual([]);
		expect(ended.at(-1)).toBe("CANCELLED");
	});

	test("whose supervisor was killed while its script queues without end", async () => {
		const hops = `while :; do "$GYM_LOCAL_NODE" "$GYM_LOCAL_SUPERVISOR" next "$GYM_LOCAL_JOB" >next.new 2>&1; mv next.new next; done\n`;
		const world = await localWorld(programs);
		await world.scheduler.submit(world.submission("run", { math: `${SEGMENTS}trap '' TERM\n${hops}` }));
		const jobDir = `${world.outputPath}/run/math`;
		await world.text("run/math/next");
		await killSupervisor(world, 1);
		expect((await world.scheduler.cancel([jobDir])).left).toEqual([]);
		await waitFor(async () => expect(await processesWith(world.outputPath)).toEqual([]));
		expect(await states(world)).not.toContain("RUNNING");
		expect(await states(world)).not.toContain("PENDING");
	});

	test("leaves no successor of a script that ends while it queues", async () => {
		const asks = `for i in 1 2 3 4; do "$GYM_LOCAL_NODE" "$GYM_LOCAL_SUPERVISOR" next "$GYM_LOCAL_JOB" & done
until compgen -G '.entry.*' >/dev/null; do :; done
exit 1
`;
		const world = await localWorld(programs);
		const script = `${SEGMENTS}if [[ \${1-} ]]; then exit 0; fi\n${asks}`;
		await world.scheduler.submit(world.submission("run", { math: script }));
		await world.text("run/math/segments");
		await waitFor(async () => {
			expect(await states(world)).not.toContain("RUNNING");
			expect(await states(world)).not.toContain("PENDING");
			expect(await processesWith(world.outputPath)).toEqual([]);
		});
		// Those that were made ran to their end; none was killed.
		expect(await states(world)).not.toContain("NODE_FAIL");
	});
});
