/** Waiting: what ends it, what is told, and how often the cluster is asked. */
import { expect, test } from "vitest";
import { type Change, INTERVALS, waitForRuns } from "../../../src/apply/wait.ts";
import type { RunRecord, RunStatus } from "../../../state/document.ts";
import { desired, LIMITS } from "../chain/chains.ts";
import { makeRun, makeSegment } from "../plan/runs.ts";

const runIn = (status: RunStatus): RunRecord =>
	makeRun(desired, {
		status,
		chain: { retries: 0, walltime: 0, idle: 0, budget: LIMITS },
		segments: [makeSegment("1", { startedAt: 1 })],
	});

interface Options {
	readonly timeoutMs?: number | null;
	/** Aborts at the n-th sleep. */
	readonly abortAt?: number;
}

/** Waits for `lab/a` and `lab/b`, whose statuses each look shows; the last one stays. An error is a look that failed. */
async function wait(looks: readonly (readonly [RunStatus, RunStatus] | Error)[], options: Options = {}) {
	const control = new AbortController();
	const sleeps: number[] = [];
	const told: string[] = [];
	const silent: unknown[] = [];
	let now = 0;
	let count = 0;
	const end = await waitForRuns(
		["a", "b"].map((benchmark) => ({ stack: "lab", benchmark, address: `lab/${benchmark}`, limits: LIMITS })),
		{
			look: async () => {
				const seen = looks[Math.min(count++, looks.length - 1)]!;
				if (seen instanceof Error) throw seen;
				return new Map([
					["a", runIn(seen[0])],
					["b", runIn(seen[1])],
				]);
			},
			sleep: async (ms) => {
				sleeps.push(ms);
				now += ms;
				if (sleeps.length === options.abortAt) control.abort();
			},
			monotonicMs: () => now,
			signal: control.signal,
		},
		{
			timeoutMs: options.timeoutMs ?? null,
			intervals: INTERVALS,
			changed: ({ address, from, run, isDue }: Change) =>
				told.push(`${address} ${from} ${run.status}${isDue ? " due" : ""}`),
			silent: (error) => silent.push(error),
		},
	);
	return { end, sleeps, told, silent, looks: count };
}

test("ends when all have succeeded, with one line for each change", async () => {
	const { end, told } = await wait([
		["pending", "running"],
		["running", "running"],
		["running", "succeeded"],
		["succeeded", "succeeded"],
	]);
	expect(end).toBe("succeeded");
	expect(told).toEqual([
		"lab/a null pending",
		"lab/b null running",
		"lab/a pending running",
		"lab/b running succeeded",
		"lab/a running succeeded",
	]);
});

test("what stopped short is named, and not waited for", async () => {
	const { end, told } = await wait([
		["running", "succeeded"],
		["timeout", "succeeded"],
	]);
	expect(end).toBe("not-succeeded");
	expect(told.at(-1)).toBe("lab/a running timeout due");
});

test("asks less and less often while nothing changes, and soon again after a change", async () => {
	const quiet: readonly [RunStatus, RunStatus] = ["running", "running"];
	const { sleeps } = await wait([
		...Array.from({ length: 7 }, () => quiet),
		["succeeded", "running"],
		["succeeded", "succeeded"],
	]);
	expect(sleeps.slice(0, 7)).toEqual([10, 15, 22.5, 33.75, 50.625, 60, 60].map((seconds) => seconds * 1000));
	expect(sleeps[7]).toBe(10_000);
});

test("ends at its time, having looked once more", async () => {
	const { end, sleeps, looks } = await wait([["running", "running"]], { timeoutMs: 20_000 });
	expect(end).toBe("timed-out");
	expect(sleeps).toEqual([10_000, 10_000]);
	expect(looks).toBe(3);
});

test("ends at once when the user stops, and leaves the runs alone", async () => {
	const { end, looks } = await wait([["running", "running"]], { abortAt: 2 });
	expect(end).toBe("interrupted");
	expect(looks).toBe(2);
});

test("a cluster that does not answer is asked again, and said to be silent once", async () => {
	const error = new Error("no route");
	const { end, silent } = await wait([["running", "running"], error, error, ["succeeded", "succeeded"]]);
	expect(end).toBe("succeeded");
	expect(silent).toEqual([error]);
});
