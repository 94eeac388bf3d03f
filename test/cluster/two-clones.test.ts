/**
 * Two clones of one project, or one that lost its state, work on the same runs at the same time: each benchmark is
 * submitted once, and what is there is taken in.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { as, on, waitFor } from "../setup/cluster.ts";
import { type GymResult, labDocument, type Project, project, startGym } from "./gym.ts";
import { liveJobs, runDirs } from "./runs.ts";
import { gateSbatch } from "./sbatch-wrapper.ts";

const NAMES = ["aime", "gsm8k", "ifeval"];
const APPLY = ["apply", "-f", "lab.yaml", "--auto-approve"];

/** A project with three benchmarks that sleep. */
async function sleeping(): Promise<Project> {
	const one = await project();
	onTestFinished(() => endJobs(one));
	await write(one, one.outputPath);
	return one;
}

/** Another clone of it, with a state of its own: none yet. */
async function cloneOf({ outputPath }: Project): Promise<Project> {
	const clone = { ...(await project()), outputPath };
	await write(clone, outputPath);
	return clone;
}

async function write(one: Project, outputPath: string): Promise<void> {
	const sleep = { command: "sleep 300" };
	const benchmarks = Object.fromEntries(NAMES.map((name) => [name, sleep]));
	await one.write(labDocument({ outputPath, benchmarks }));
}

async function endJobs(one: Project): Promise<void> {
	const ids = [...(await liveJobs(one)).values()].flat();
	if (ids.length > 0) await as("scancel", ...ids);
}

function loseState(one: Project): Promise<void> {
	return rm(join(one.folder, ".gym"), { recursive: true });
}

function expectCode(result: GymResult, code: number): GymResult {
	expect(result.code, result.text).toBe(code);
	return result;
}

const plan = (one: Project, ...more: readonly string[]) =>
	one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode", ...more]);

async function plannedActions(one: Project): Promise<readonly string[]> {
	const { stdout } = await plan(one, "-json");
	const events = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
	return events.flatMap(({ type, action }) => (type === "planned_change" ? [action] : []));
}

/** Each benchmark has one job, in one run directory that holds jobs, and nothing is held. */
async function expectOnce(one: Project): Promise<ReadonlyMap<string, readonly string[]>> {
	const live = await liveJobs(one);
	expect([...live.keys()].sort()).toEqual(NAMES);
	for (const ids of live.values()) expect(ids).toHaveLength(1);
	const { stdout } = await as("squeue", "-h", "-o", "%r %Z");
	expect(
		stdout.split("\n").filter((line) => line.startsWith("JobHeld") && line.includes(one.outputPath)),
	).toEqual([]);
	return live;
}

describe("two clones apply", () => {
	it("at the same moment: each benchmark is queued once, and both come to know its run", async () => {
		const one = await sleeping();
		const clones = [one, await cloneOf(one), await cloneOf(one)];
		const results = await Promise.all(clones.map((clone) => clone.gym(APPLY)));
		for (const { code, text } of results) expect([0, 1], text).toContain(code);
		expect(results.map(({ code }) => code)).toContain(0);
		const live = await expectOnce(one);
		for (const clone of clones) {
			expectCode(await clone.gym(APPLY), 0);
			expectCode(await plan(clone), 0);
		}
		expect(await expectOnce(one)).toEqual(live);
	});

	it("the second one planned before the first one submitted: it is refused, then adopts", async () => {
		const one = await sleeping();
		const other = await cloneOf(one);
		expect((await other.gym(APPLY, { GYMFILE_TEST_STOP_AT: "exchange.submit.before" })).signal).toBe(
			"SIGKILL",
		);
		expectCode(await one.gym(APPLY), 0);
		const live = await expectOnce(one);
		const [runDir] = await runDirs(one);
		const { stdout } = expectCode(await other.gym(APPLY), 1);
		for (const [name, [id]] of live) {
			expect(stdout).toContain(`another run of lab/${name} is live: ${runDir}/${name}, job ${id}`);
		}
		expect(await plannedActions(other)).toEqual(["adopt", "adopt", "adopt"]);
		expectCode(await other.gym(APPLY), 0);
		expectCode(await plan(other), 0);
		expect(await expectOnce(one)).toEqual(live);
	});
});

describe("the state is lost", () => {
	it("while the first exchange is at work: the plan waits for it, and adopts all", async () => {
		const one = await sleeping();
		const gate = await gateSbatch(one.outputPath);
		const first = startGym(one.folder, APPLY);
		await gate.arrived();
		first.process.kill("SIGKILL");
		await first.ended;
		await loseState(one);
		const second = startGym(one.folder, APPLY);
		// Of the brackets, pgrep does not find the shells that started it.
		const waiting = () => on("login", "pgrep", "-f", `[f]lock -w 120 ${one.outputPath}`);
		await waitFor(async () => (await waiting()).code === 0, "the second apply to wait");
		await gate.open();
		expect(expectCode(await second.ended, 0).stdout).toContain("3 adopted");
		await expectOnce(one);
		expect(await runDirs(one)).toHaveLength(1);
		expectCode(await plan(one), 0);
	});

	it.each([
		["submit.staged", 0],
		["submit.accepted", 1],
		["submit.release", 3],
	])(
		"and the remote script dies at %s: one apply finishes it and releases its %i jobs",
		async (point, held) => {
			const one = await sleeping();
			expectCode(await one.gym(APPLY, { GYMFILE_TEST_STOP_AT: point }), 1);
			await loseState(one);
			const before = [...(await liveJobs(one)).values()].flat();
			expect(before).toHaveLength(held);
			expectCode(await one.gym(APPLY), 0);
			const live = await expectOnce(one);
			expect([...live.values()].flat()).toEqual(expect.arrayContaining(before));
			expect(await runDirs(one)).toHaveLength(1);
			expectCode(await plan(one), 0);
		},
	);
});

describe("two live runs of one address", () => {
	/** Two clones have submitted without knowing of each other: the record of the first was hidden meanwhile. */
	async function both() {
		const one = await sleeping();
		expectCode(await one.gym(APPLY), 0);
		const older = await liveJobs(one);
		const [runDir] = await runDirs(one);
		const path = join(runDir!, "gym-job.json");
		const record = await readFile(path, "utf8");
		await writeFile(path, record.replace('"gymfile_stack": "lab"', '"gymfile_stack": "hidden"'));
		const other = await cloneOf(one);
		expectCode(await other.gym(APPLY), 0);
		await writeFile(path, record);
		return { one, other, older };
	}

	it("are told with directories and jobs; the older one is taken in, the other one left alone", async () => {
		const { one, other, older } = await both();
		const dirs = await runDirs(one);
		const jobs = await liveJobs(one);
		const warnings = async (clone: Project) => {
			const { text } = await plan(clone);
			return NAMES.filter((name) => {
				const younger = jobs.get(name)!.find((id) => !older.get(name)!.includes(id));
				return [...dirs.map((dir) => `${dir}/${name}`), `job ${older.get(name)![0]}`, `job ${younger}`].every(
					(words) => text.includes(words),
				);
			});
		};
		expect(await warnings(one)).toEqual(NAMES);
		expect(await warnings(other)).toEqual(NAMES);
		await loseState(other);
		expect(await warnings(other)).toEqual(NAMES);
		expectCode(await other.gym(APPLY), 0);
		const state = JSON.parse(await other.stateText());
		for (const name of NAMES) {
			expect(state.benchmarks[name].current.runDir).toBe(dirs[0]);
			expect(state.benchmarks[name].history).toEqual([]);
		}
		expect(await liveJobs(one)).toEqual(jobs);
		const younger = [...jobs].flatMap(([name, ids]) => ids.filter((id) => !older.get(name)!.includes(id)));
		await as("scancel", ...younger);
		await waitFor(async () => (await warnings(other)).length === 0, "the warnings to end");
		expectCode(await plan(other), 0);
		expect(await liveJobs(one)).toEqual(older);
	});
});
