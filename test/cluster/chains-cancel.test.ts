/** Sixty chains are cancelled at random moments, while their segments start, end and queue: none goes on. */
import { expect, it, onTestFinished } from "vitest";
import { as, jobs, waitFor } from "../setup/cluster.ts";
import { chainProject, chainsOf, playing, steered } from "./chain.ts";
import type { Project } from "./gym.ts";
import { liveJobs } from "./runs.ts";

const SEED = 20_260_701;
const STACKS = 5;
const ROUNDS = 3;
const NAMES = ["a", "b", "c", "d"];
const FLAGS = ["-f", "lab.yaml", "--auto-approve"];
/** Time in which a failing chain goes through two segments, about. */
const SPAN_MS = 6000;

/** Numbers from 0 to 1, the same ones each time. */
function random(seed: number): () => number {
	let state = seed;
	return () => {
		state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
		return state / 2 ** 32;
	};
}

/** A job of the same user, of whose directory ours are a part by name only. */
async function foreignJob(dir: string): Promise<number> {
	const made = await as("mkdir", "-p", dir);
	expect(made.code, made.stderr).toBe(0);
	const { code, stdout, stderr } = await as(
		"sbatch",
		"--parsable",
		`--chdir=${dir}`,
		"-o",
		"/dev/null",
		"--wrap=sleep 600",
	);
	expect(code, stderr).toBe(0);
	onTestFinished(async () => {
		await as("scancel", stdout.trim());
	});
	return Number(stdout);
}

/** One round: chains that fail again and again, cancelled with one command `delay` ms after they began. */
async function round(one: Project, apply: readonly string[], delay: number): Promise<void> {
	const applied = await one.gym(apply);
	expect(applied.code, applied.text).toBe(0);
	const chains = await chainsOf(one);
	await waitFor(async () => (await chains.events("a")).length > 0, "a chain to begin");
	await new Promise((resolve) => setTimeout(resolve, delay));
	const cancelled = await one.gym(["cancel", ...NAMES, ...FLAGS]);
	expect(cancelled.code, cancelled.text).toBe(0);
	const live = await liveJobs(one);
	for (const name of NAMES) expect(live.get(name), cancelled.text).toBeUndefined();
}

it(`leaves nothing queued or running, and other jobs alone (seed ${SEED})`, {
	timeout: 300_000,
}, async () => {
	const next = random(SEED);
	const { driver } = await steered();
	const benchmarks = Object.fromEntries(NAMES.map((name) => [name, playing("fail", { max_retries: 1000 })]));
	const replace = NAMES.flatMap((name) => ["-replace", `lab/${name}`]);
	const stacks = Array.from({ length: STACKS }, () => Array.from({ length: ROUNDS }, () => next() * SPAN_MS));
	const segments: number[] = [];

	await Promise.all(
		stacks.map(async (delays) => {
			const one = await chainProject(benchmarks, { driver });
			const foreign = [await foreignJob(one.outputPath), await foreignJob(`${one.outputPath}/ab`)];
			for (const [i, delay] of delays.entries()) {
				await round(one, ["apply", ...FLAGS, ...(i > 0 ? replace : [])], delay);
			}
			const found = await jobs(one.outputPath);
			const ours = found.filter(({ id }) => !foreign.includes(id));
			segments.push(ours.length);
			expect(ours.filter(({ state }) => ["PENDING", "RUNNING", "COMPLETING"].includes(state))).toEqual([]);
			expect(found.filter(({ id }) => foreign.includes(id)).map(({ state }) => state)).toEqual([
				"RUNNING",
				"RUNNING",
			]);
		}),
	);
	// Chains that were cancelled before they went on would prove nothing.
	expect(segments.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(3 * STACKS * ROUNDS * NAMES.length);
});
