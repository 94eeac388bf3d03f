/** Submitting to this machine: exactly once, whatever dies when, and no secret where it does not belong. */
import { execFileSync } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildPrograms, localWorld, type Programs } from "./local-world.ts";
import { problemOf } from "./transport-io.ts";

let programs: Programs;
beforeAll(async () => {
	programs = await buildPrograms();
});
afterAll(() => programs.remove());

const SCRIPTS = { alpha: "echo ran >>runs\n", beta: "echo ran >>runs\n" };

/** Points of a submission of two jobs, with how often each is passed. */
const POINTS = [
	["submit.staged", 1],
	["submit.accepted", 1],
	["submit.accepted", 2],
	["submit.recorded", 1],
	["submit.recorded", 2],
	["submit.release", 1],
	["submit.released", 1],
	["submit.written", 1],
] as const;

describe("exactly once", () => {
	test.each(POINTS)("killed at %s (%i), and again", async (killAt, nth) => {
		const world = await localWorld(programs);
		const first = await world.submitter({ run: "run", scripts: SCRIPTS, killAt, nth });
		expect(await first.submit()).toBeNull();
		const second = await world.submitter({ run: "run", scripts: SCRIPTS, killAt: null, nth: 0 });
		expect(await second.submit()).toEqual(["1", "2"]);
		await world.until("run/beta", "COMPLETED");
		await world.until("run/alpha", "COMPLETED");
		expect((await readdir(join(world.outputPath, ".gym-local/jobs"))).sort()).toEqual(["1", "2"]);
		expect(await world.text("run/submit.ids")).toBe("alpha\t1\t\nbeta\t2\t\n");
		expect(await world.text("run/alpha/runs")).toBe("ran\n");
		expect(await world.text("run/beta/runs")).toBe("ran\n");
		expect(JSON.parse(await world.text("run/gym-job.json")).benchmarks).toMatchObject([
			{ benchmark: "alpha", job_id: "1", error: null },
			{ benchmark: "beta", job_id: "2", error: null },
		]);
	});

	test("two submitters of one run directory at once", async () => {
		const world = await localWorld(programs);
		const order = { run: "run", scripts: SCRIPTS, killAt: null, nth: 0 };
		const both = [await world.submitter(order), await world.submitter(order)];
		expect(await Promise.all(both.map((one) => one.submit()))).toEqual([
			["1", "2"],
			["1", "2"],
		]);
		await world.until("run/beta", "COMPLETED");
		expect(await world.text("run/alpha/runs")).toBe("ran\n");
		expect(await world.text("run/submit.ids")).toBe("alpha\t1\t\nbeta\t2\t\n");
	});

	test("stacks that submit at once never share an id", async () => {
		const world = await localWorld(programs);
		const runs = ["one", "two", "three"];
		const submitters = await Promise.all(
			runs.map((run) => world.submitter({ stack: run, run, scripts: SCRIPTS, killAt: null, nth: 0 })),
		);
		const ids = (await Promise.all(submitters.map((one) => one.submit()))).flat();
		expect([...ids].sort()).toEqual(["1", "2", "3", "4", "5", "6"]);
		for (const run of runs) {
			await world.until(`${run}/beta`, "COMPLETED");
			expect(await world.text(`${run}/alpha/runs`)).toBe("ran\n");
		}
	});

	test("a job of an earlier attempt in the same directory is not taken for this one", async () => {
		const world = await localWorld(programs);
		const submission = world.submission("run", { alpha: "echo ran >>runs\n" });
		await world.scheduler.submit(submission);
		await world.until("run/alpha", "COMPLETED");
		const again = { ...submission, jobs: submission.jobs.map((job) => ({ ...job, knownIds: ["1"] })) };
		expect((await world.scheduler.submit(again)).jobs).toMatchObject([{ jobId: "2" }]);
		await world.until("run/alpha", "COMPLETED");
		expect(await world.text("run/alpha/runs")).toBe("ran\nran\n");
	});
});

describe("what is staged", () => {
	test("modes, folders and the record", async () => {
		const world = await localWorld(programs);
		const outcome = await world.scheduler.submit(world.submission("run", { alpha: "true\n" }));
		expect(outcome.jobs).toMatchObject([{ benchmark: "alpha", jobId: "1", error: null, cluster: null }]);
		const mode = async (path: string) => (await stat(join(world.outputPath, path))).mode & 0o777;
		expect(await mode("run/alpha/.env")).toBe(0o600);
		expect(await mode("run/alpha/job.sh")).toBe(0o600);
		expect(await mode("run/resolved-config.yaml")).toBe(0o644);
		expect((await mode("run/alpha")) & 0o022).toBe(0);
		expect(await readdir(join(world.outputPath, "run/alpha"))).toEqual(
			expect.arrayContaining(["artifacts", "control", "ends", "job.sh", "logs", "model-calls"]),
		);
		expect(JSON.parse(await world.text("run/gym-job.json"))).toMatchObject({
			run_dir: `${world.outputPath}/run`,
			executor: "local",
			submitted_by: outcome.user,
			submitted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
			schema_version: 1,
		});
	});

	test("missing mounts are all named, and nothing is staged", async () => {
		const world = await localWorld(programs);
		const submission = world.submission("run", SCRIPTS, { mountSources: ["/", "/no/a", "/no/b"] });
		await expect(world.scheduler.submit(submission)).rejects.toMatchObject({
			exit: "refused",
			problems: [
				{ code: "mount-missing", message: expect.stringContaining("/no/a") },
				{ code: "mount-missing", message: expect.stringContaining("/no/b") },
			],
		});
		expect(await readdir(world.outputPath)).toEqual([]);
	});

	test("an output path that cannot be made is refused", async () => {
		const world = await localWorld(programs);
		await world.scheduler.submit(world.submission("run", { alpha: "true\n" }));
		await writeFile(join(world.outputPath, "file"), "");
		const below = { ...world.submission("run", {}), outputPath: join(world.outputPath, "file/below") };
		expect(await problemOf(world.scheduler.submit(below))).toMatchObject({
			exit: "refused",
			code: "output-path-not-writable",
			at: "job.output_path",
		});
	});

	test("a supervisor that cannot start leaves the job held, and the next submission releases it", async () => {
		const world = await localWorld(programs);
		const broken = await localWorld({ ...programs, supervisor: "/no/such/supervisor.js" });
		const submission = broken.submission("run", { alpha: "true\n" });
		expect(await problemOf(broken.scheduler.submit(submission))).toMatchObject({
			exit: "failure",
			code: "supervisor-not-started",
		});
		expect(await broken.until("run/alpha", "PENDING")).toMatchObject({ reason: "JobHeldUser" });
		await broken.scheduler.cancel([`${broken.outputPath}/run/alpha`]);
		await broken.until("run/alpha", "CANCELLED");
		await world.scheduler.submit(world.submission("run", { alpha: "true\n" }));
		await world.until("run/alpha", "COMPLETED");
	});
});

describe("the environment of a job", () => {
	test("forwarded values reach the script and stand nowhere on disk or in arguments", async () => {
		const world = await localWorld(programs, {
			env: {
				...process.env,
				PLAIN: "of the shell",
				SECRET: "of one step",
				SLURM_JOB_ID: "77",
				SLURM_NODEID: "3",
				NODE_OPTIONS: "--bad",
			},
		});
		const token = `tok${process.pid}en${"x".repeat(100_000)}`;
		const script = `{ echo "$\{#TOKEN}"; echo "$PLAIN"; echo "\${SECRET-withheld}"; echo "$SLURM_JOB_ID"; echo "\${SLURM_NODEID-none}"; echo "$NODE_OPTIONS"; } >seen
until [[ -e go ]]; do sleep 0.05; done
`;
		const forward = new Map([["TOKEN", token]]);
		await world.scheduler.submit(
			world.submission("run", { alpha: script, beta: script }, { forward, withheld: ["SECRET"] }),
		);
		expect((await world.text("run/alpha/seen")).trimEnd().split("\n")).toEqual([
			String(token.length),
			"of the shell",
			"withheld",
			"1",
			"none",
			"--bad",
		]);
		const onDisk = () => execFileSync("grep", ["-rlF", token.slice(0, 40), world.outputPath]).toString();
		expect(onDisk).toThrow(); // grep found nothing
		for (const pid of await readdir("/proc")) {
			const args = /^\d+$/.test(pid) ? await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "") : "";
			expect(args).not.toContain(token);
		}
		await writeFile(join(world.outputPath, "run/alpha/go"), "");
		await writeFile(join(world.outputPath, "run/beta/go"), "");
		await world.until("run/beta", "COMPLETED");
		expect(onDisk).toThrow();
	});

	test("PATH has no node_modules/.bin", async () => {
		const path = `/proj/node_modules/.bin:${process.env.PATH}:/other/node_modules/.bin/:/x/node_modules/.bin-not`;
		const world = await localWorld(programs, { env: { ...process.env, PATH: path } });
		await world.scheduler.submit(world.submission("run", { alpha: 'echo "$PATH" >path\n' }));
		const expected = (process.env.PATH ?? "")
			.split(":")
			.filter((folder) => !folder.endsWith("/node_modules/.bin"))
			.join(":");
		expect(await world.text("run/alpha/path")).toBe(`${expected}:/x/node_modules/.bin-not\n`);
		await world.until("run/alpha", "COMPLETED");
	});
});
