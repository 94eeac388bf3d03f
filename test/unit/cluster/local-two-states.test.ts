/** Two states that do not know of each other submit local jobs to one output path: each benchmark runs once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Submission } from "../../../src/cluster/scheduler.ts";
import { buildPrograms, type LocalWorld, localWorld, type Programs } from "./local-world.ts";

let programs: Programs;
beforeAll(async () => {
	programs = await buildPrograms();
});
afterAll(() => programs.remove());

const WAITS = "until [[ -e go ]]; do sleep 0.05; done\n";

/** A world where `first/alpha` runs. */
async function occupied(): Promise<LocalWorld> {
	const world = await localWorld(programs);
	await world.scheduler.submit(world.submission("first", { alpha: WAITS }));
	await world.until("first/alpha", "RUNNING");
	return world;
}

const second = (world: LocalWorld, more: Partial<Submission> = {}) =>
	world.scheduler.submit(world.submission("second", { alpha: WAITS, beta: WAITS }, more));

describe("a benchmark of which another run is live", () => {
	test("is not submitted, and the run is named; others are", async () => {
		const world = await occupied();
		const { jobs } = await second(world);
		const of = (name: string) => jobs.find(({ benchmark }) => benchmark === name);
		expect(of("alpha")).toMatchObject({
			jobId: null,
			error: `another run of math/alpha is live: ${world.outputPath}/first/alpha, job 1; plan again: it will be shown as = (adopt)`,
		});
		expect(of("beta")).toMatchObject({ jobId: "2", error: null });
		expect([...(await world.queue()).keys()].sort()).toEqual([
			`${world.outputPath}/first/alpha`,
			`${world.outputPath}/second/beta`,
		]);
	});

	test("is submitted when the state knows that run, or it is another stack's", async () => {
		const world = await occupied();
		const knownDirs = [`${world.outputPath}/first/alpha`];
		expect((await second(world, { knownDirs })).jobs.map(({ jobId }) => jobId)).toEqual(["2", "3"]);
		const other = world.submission("third", { alpha: WAITS }, { stack: "physics" });
		expect((await world.scheduler.submit(other)).jobs).toMatchObject([{ jobId: "4" }]);
	});

	test("is submitted when that run is over", async () => {
		const world = await occupied();
		await world.scheduler.cancel([`${world.outputPath}/first/alpha`]);
		expect((await second(world)).jobs.map(({ jobId }) => jobId)).toEqual(["2", "3"]);
	});
});

test("two submitters at once, each with a run directory of its own: one of them submits", async () => {
	const world = await localWorld(programs);
	const order = { scripts: { alpha: WAITS }, killAt: null, nth: 0 };
	const both = [
		await world.submitter({ run: "one", ...order }),
		await world.submitter({ run: "two", ...order }),
	];
	const ids = (await Promise.all(both.map((one) => one.submit()))).map((found) => found![0]);
	expect([...ids].sort()).toEqual(["1", null]);
	expect((await world.queue()).size).toBe(1);
});

test("a look for runs waits for a submitter: what it is about to submit is found", async () => {
	const world = await localWorld(programs);
	const submitting = world.scheduler.submit(world.submission("gym-job-1", { alpha: WAITS, beta: WAITS }));
	await world.text("gym-job-1/submit.ids"); // one job is recorded, the exchange goes on
	const looking = world.scheduler.find({ stack: "math", outputPath: world.outputPath });
	await submitting;
	expect(await looking).toMatchObject([{ ids: "alpha\t1\t\nbeta\t2\t\n" }]);
});

test("a look for runs makes nothing where nobody ever submitted", async () => {
	const world = await localWorld(programs);
	expect(await world.scheduler.find({ stack: "math", outputPath: world.outputPath })).toEqual([]);
	await world.scheduler.submit(world.submission("run", { alpha: "true\n" }));
});
