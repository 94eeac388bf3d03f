/** Jobs that queue their successors: who runs when, and after what. */
import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { thisHost } from "../../../state/backends/host.ts";
import {
	begin,
	jobFolder,
	killSupervisor,
	QUEUE,
	rows,
	SEGMENTS,
	textIn,
	untilStates,
	WAITS,
} from "./local-chain.ts";
import { buildPrograms, isRunning, localWorld, type Programs } from "./local-world.ts";

let programs: Programs;
beforeAll(async () => {
	programs = await buildPrograms();
});
afterAll(() => programs.remove());

describe("a successor", () => {
	test("waits for its predecessor, and never runs when that one completes", async () => {
		const { world, jobDir } = await begin(programs, `${SEGMENTS}${QUEUE}${WAITS}`);
		await world.text("run/math/pid-1");
		expect(await rows(world)).toMatchObject([
			{ jobId: "1", state: "RUNNING" },
			{ jobId: "2", state: "PENDING", reason: "Dependency", startsAt: null, workDir: jobDir },
		]);
		await writeFile(join(jobDir, "go"), "");
		await untilStates(world, ["COMPLETED", "CANCELLED"]);
		expect((await rows(world))[1]).toMatchObject({ startsAt: null, nodeList: null });
		expect(await world.text("run/math/segments")).toBe("1 first\n");
	});

	test("is dropped at once, whoever waits before it", async () => {
		const world = await localWorld(programs);
		const both = { math: `${WAITS}${QUEUE}`, other: WAITS };
		await world.scheduler.submit(world.submission("run", both));
		await world.text("run/math/pid-1");
		await writeFile(join(world.outputPath, "run/math/go"), "");
		await untilStates(world, ["COMPLETED", "RUNNING", "CANCELLED"]);
		await writeFile(join(world.outputPath, "run/other/go"), "");
		await untilStates(world, ["COMPLETED", "COMPLETED", "CANCELLED"]);
	});

	test("goes on after each way in which a segment can end badly", async () => {
		const script = `${SEGMENTS}${QUEUE}case $SLURM_JOB_ID in
1) exit 3 ;;
2) kill -KILL $$ ;;
3 | 4 | 5) trap : USR1; while :; do sleep 0.1 & wait $!; done ;;
esac
`;
		const { world } = await begin(programs, script, { walltime: 2 });
		await untilStates(world, ["FAILED", "FAILED", "TIMEOUT", "TIMEOUT", "TIMEOUT", "COMPLETED", "CANCELLED"]);
		expect(await world.text("run/math/segments")).toBe("1 first\n2 1\n3 2\n4 3\n5 4\n6 5\n");
	});

	test("goes on after a killed supervisor, when what that one left has ended", async () => {
		const stubborn = `setsid bash -c 'trap "" TERM; echo $$ >stubborn; while :; do sleep 0.1; done' &\n`;
		// One that has ended, and that nobody has waited for, has no arguments any more.
		const second = `words=$(tr -d '\\0' 2>/dev/null <"/proc/$(<stubborn)/cmdline")\necho "\${words:-alone}" >seen\nexit 0\n`;
		const script = `${SEGMENTS}if [[ \${1-} ]]; then ${second}fi\n${stubborn}${QUEUE}${WAITS}`;
		const { world } = await begin(programs, script);
		const left = Number(await world.text("run/math/stubborn"));
		await killSupervisor(world, 1);
		await untilStates(world, ["NODE_FAIL", "COMPLETED"]);
		expect(await world.text("run/math/seen")).toBe("alone\n");
		expect(isRunning(left)).toBe(false);
		expect(JSON.parse(await textIn(jobFolder(world, 1), "end.json"))).toMatchObject({ state: "NODE_FAIL" });
	});

	test("of a job whose supervisor is killed before it was queued goes on too", async () => {
		const world = await localWorld(programs);
		const script = `${SEGMENTS}[[ ! \${1-} ]] || exit 0\n${WAITS}${QUEUE}`;
		await world.scheduler.submit(world.submission("run", { math: script }));
		await world.text("run/math/pid-1");
		await killSupervisor(world, 1);
		await writeFile(join(world.outputPath, "run/math/go"), "");
		await untilStates(world, ["NODE_FAIL", "COMPLETED"]);
		expect(await world.text("run/math/segments")).toBe("1 first\n2 1\n");
	});

	test("has the environment of the script that queued it, and nothing else of that job", async () => {
		const world = await localWorld(programs, { env: { ...process.env, PLAIN: "of the shell" } });
		const token = `tok${process.pid}en${"x".repeat(100_000)}`;
		const show = `{ echo "\${#TOKEN} $PLAIN $ADDED"; printenv | grep -E '^(GYM_LOCAL|SLURM)_' | sort; } >"seen-$SLURM_JOB_ID"\n`;
		const script = `export ADDED=first\n${show}${QUEUE}[[ \${1-} ]] || exit 1\n${WAITS}`;
		const forward = new Map([["TOKEN", token]]);
		await world.scheduler.submit(world.submission("run", { math: script }, { forward }));
		await world.text("run/math/next-2");
		const expected = (id: number) => `${token.length} of the shell first
GYM_LOCAL_JOB=${jobFolder(world, id)}
GYM_LOCAL_NODE=${process.execPath}
GYM_LOCAL_SUPERVISOR=${programs.supervisor}
SLURM_JOB_ID=${id}
`;
		expect(await world.text("run/math/seen-1")).toBe(expected(1));
		expect(await world.text("run/math/seen-2")).toBe(expected(2));
		const onDisk = () => execFileSync("grep", ["-rlF", token.slice(0, 40), world.outputPath]).toString();
		expect(onDisk).toThrow(); // grep found nothing
		for (const pid of await readdir("/proc")) {
			const args = /^\d+$/.test(pid) ? await textIn("/proc", pid, "cmdline") : "";
			expect(args).not.toContain(token.slice(0, 40));
		}
		await writeFile(join(world.outputPath, "run/math/go"), "");
		await untilStates(world, ["FAILED", "COMPLETED", "CANCELLED"]);
	});

	test("is queued once, however often its predecessor asks", async () => {
		const again = QUEUE.replaceAll("next-", "again-");
		const { world, jobDir } = await begin(programs, `${QUEUE}${again}${WAITS}`);
		expect(await world.text("run/math/again-1")).toBe("2\n");
		await writeFile(join(jobDir, "go"), "");
		await untilStates(world, ["COMPLETED", "CANCELLED"]);
	});
});

test("a chain that is gone on with: its first segment is told of the previous job, however that one ended", async () => {
	const world = await localWorld(programs);
	const submission = world.submission("run", { math: SEGMENTS });
	await world.scheduler.submit(submission);
	await untilStates(world, ["COMPLETED"]);
	const jobs = submission.jobs.map((job) => ({ ...job, knownIds: ["1"], previous: "1" }));
	expect((await world.scheduler.submit({ ...submission, jobs })).jobs).toMatchObject([{ jobId: "2" }]);
	await untilStates(world, ["COMPLETED", "COMPLETED"]);
	expect(await world.text("run/math/segments")).toBe("1 first\n2 1\n");
});

test("a successor that came to nothing is not taken for the job of a submission", async () => {
	const { world, jobDir } = await begin(programs, `${QUEUE}${WAITS}`);
	await writeFile(join(jobDir, "go"), "");
	await untilStates(world, ["COMPLETED", "CANCELLED"]);
	const submission = world.submission("run", { math: "true\n" });
	const jobs = submission.jobs.map((job) => ({ ...job, knownIds: ["1"] }));
	expect((await world.scheduler.submit({ ...submission, jobs })).jobs).toMatchObject([{ jobId: "3" }]);
	await untilStates(world, ["COMPLETED", "CANCELLED", "COMPLETED"]);
});

test("a successor is no part of the job that queued it, not even while that one still waits for it", async () => {
	const lingering = join(programs.supervisor, "../lingering.mjs");
	const text = await readFile(programs.supervisor, "utf8");
	await writeFile(lingering, `if (process.argv[2] === "next") setInterval(() => undefined, 1000);\n${text}`);
	const world = await localWorld({ ...programs, supervisor: lingering });
	const asks = `"$GYM_LOCAL_NODE" "$GYM_LOCAL_SUPERVISOR" next "$GYM_LOCAL_JOB" >next &\n`;
	const math = `[[ ! \${1-} ]] || exit 0\n${asks}${WAITS}`;
	await world.scheduler.submit(world.submission("run", { math, other: WAITS }));
	expect(await world.text("run/math/next")).toBe("3\n");
	await killSupervisor(world, 1);
	await untilStates(world, ["NODE_FAIL", "RUNNING", "PENDING"]);
	await writeFile(join(world.outputPath, "run/other/go"), "");
	await untilStates(world, ["NODE_FAIL", "COMPLETED", "COMPLETED"]);
});

test("a segment that fell long ago counts with no more time than it had", async () => {
	const world = await localWorld(programs);
	const folder = jobFolder(world, 1);
	await mkdir(folder, { recursive: true });
	const { user } = thisHost();
	const job = { id: 1, jobDir: `${world.outputPath}/run/math`, user, submittedAt: 900, walltime: 60 };
	await writeFile(join(folder, "job.json"), JSON.stringify(job));
	await writeFile(
		join(folder, "supervisor.json"),
		JSON.stringify({ bootId: "before", pid: 1, startTime: "1" }),
	);
	await writeFile(join(folder, "started.json"), JSON.stringify({ at: 1_000 }));
	await world.scheduler.endFallen();
	expect(JSON.parse(await textIn(folder, "end.json"))).toMatchObject({ state: "NODE_FAIL", endedAt: 1_060 });
});
