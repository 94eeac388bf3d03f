/** The state is lost, the runs are not: they are found by their records, and nothing is submitted twice. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { as } from "../setup/cluster.ts";
import { type GymResult, labDocument, type Project, project } from "./gym.ts";
import { liveJobs, runDirs, settled } from "./runs.ts";

const LIVE = { command: "sleep 300" };
const ENDS = { command: "true" };
const NONE = new Map<string, readonly string[]>();

async function write(one: Project, benchmark: unknown): Promise<void> {
	await one.write(labDocument({ outputPath: one.outputPath, benchmarks: { talk: benchmark } }));
}

const gym = (one: Project, command: "plan" | "apply", ...more: readonly string[]) =>
	one.gym([
		command,
		"-f",
		"lab.yaml",
		...(command === "plan" ? ["-detailed-exitcode"] : ["--auto-approve"]),
		...more,
	]);

function loseState(one: Project): Promise<void> {
	return rm(join(one.folder, ".gym"), { recursive: true });
}

/** A project whose one run is live or has ended, and whose state is lost. */
async function lost(benchmark: { readonly command: string }): Promise<Project> {
	const one = await project();
	onTestFinished(async () => {
		const ids = [...(await liveJobs(one)).values()].flat();
		if (ids.length > 0) await as("scancel", ...ids);
	});
	await write(one, benchmark);
	expectCode(await gym(one, "apply"), 0);
	if (benchmark === ENDS) await settled(one);
	await loseState(one);
	return one;
}

function expectCode(result: GymResult, code: number): void {
	expect(result.code, result.text).toBe(code);
}

/** What the state knows: the status of the current run, and of the ones before. */
async function known(one: Project): Promise<{ readonly now: string; readonly before: readonly string[] }> {
	const { current, history } = JSON.parse(await one.stateText()).benchmarks.talk;
	return { now: current.status, before: history.map((run: { status: string }) => run.status) };
}

function plannedActions({ stdout }: GymResult): readonly string[] {
	const events = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
	return events.flatMap(({ type, action }) => (type === "planned_change" ? [action] : []));
}

describe("a run that the state lost", () => {
	it.each([
		["is live", LIVE, /^(pending|running)$/],
		["has ended", ENDS, /^succeeded$/],
	] as const)("%s: it is adopted, and nothing is submitted", async (_, benchmark, status) => {
		const one = await lost(benchmark);
		const before = await liveJobs(one);
		const plan = await gym(one, "plan");
		expectCode(plan, 2);
		expect(plan.stdout).toContain("# lab/talk will be adopted");
		expect(plannedActions(await gym(one, "plan", "-json"))).toEqual(["adopt"]);
		const applied = await gym(one, "apply");
		expectCode(applied, 0);
		expect(await known(one)).toEqual({ now: expect.stringMatching(status), before: [] });
		expect(await liveJobs(one)).toEqual(before);
		expect(await runDirs(one)).toHaveLength(1);
		expectCode(await gym(one, "plan"), 0);
	});

	it("is live and another job now: adopted, then refused", async () => {
		const one = await lost(LIVE);
		const before = await liveJobs(one);
		await write(one, { command: "sleep 299" });
		expectCode(await gym(one, "plan"), 2);
		expectCode(await gym(one, "apply"), 0);
		const refused = await gym(one, "apply");
		expectCode(refused, 4);
		expect(refused.stdout).toContain("live-chain");
		expect(await liveJobs(one)).toEqual(before);
		expect(await runDirs(one)).toHaveLength(1);
	});

	it("has ended and is another job now: it becomes history, and the new one is submitted", async () => {
		const one = await lost(ENDS);
		await write(one, LIVE);
		const plan = await gym(one, "plan");
		expectCode(plan, 2);
		expect(plan.stdout).toContain("# lab/talk will be submitted");
		expect(plannedActions(await gym(one, "plan", "-json"))).toEqual(["submit"]);
		expectCode(await gym(one, "apply"), 0);
		expect(await known(one)).toEqual({
			now: expect.stringMatching(/^(pending|running)$/),
			before: ["succeeded"],
		});
		expect((await liveJobs(one)).get("talk")).toHaveLength(1);
		expectCode(await gym(one, "plan"), 0);
	});

	it("is another stack's: it is left alone", async () => {
		const one = await lost(ENDS);
		await changeRecord(one, (text) => text.replace('"gymfile_stack": "lab"', '"gymfile_stack": "lab2"'));
		expect(plannedActions(await gym(one, "plan", "-json"))).toEqual(["submit"]);
		expect(await liveJobs(one)).toEqual(NONE);
	});

	it("is another user's: it is left alone", async () => {
		const one = await lost(ENDS);
		await changeRecord(one, (text) => text.replace(/"submitted_by": "[^"]+"/, '"submitted_by": "mallory"'));
		expect(plannedActions(await gym(one, "plan", "-json"))).toEqual(["submit"]);
		expect(await liveJobs(one)).toEqual(NONE);
	});

	it("was forgotten with state rm: it is found again", async () => {
		const one = await lost(LIVE);
		expectCode(await gym(one, "apply"), 0);
		const before = await liveJobs(one);
		expectCode(await one.gym(["state", "rm", "lab/talk", "-f", "lab.yaml"]), 0);
		expect(plannedActions(await gym(one, "plan", "-json"))).toEqual(["adopt"]);
		expectCode(await gym(one, "apply"), 0);
		expect(await liveJobs(one)).toEqual(before);
	});
});

async function changeRecord(one: Project, change: (text: string) => string): Promise<void> {
	const [runDir] = await runDirs(one);
	const path = join(runDir!, "gym-job.json");
	const text = await readFile(path, "utf8");
	expect(change(text)).not.toBe(text);
	await writeFile(path, change(text));
}
