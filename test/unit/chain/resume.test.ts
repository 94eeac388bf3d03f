/** After which job a chain goes on, and whether its budget lets it. */
import { describe, expect, test } from "vitest";
import { lastOfChain, resumption, spentLimit } from "../../../src/chain/resume.ts";
import type { ChainRecord, RunStatus, Segment } from "../../../state/document.ts";
import { makeRun, makeSegment } from "../plan/runs.ts";
import { desired } from "./chains.ts";

const resumed = { word: "resume", retries: 0 };
const job = (jobId: string, more: Partial<Segment> = {}) =>
	makeSegment(jobId, { startedAt: 1, endedAt: 2, ...more });

describe("the job after which a chain goes on", () => {
	test.each<readonly [string, readonly Segment[], string | null]>([
		["the only one", [job("1")], "1"],
		["the last that nobody followed", [job("1", { decision: resumed }), job("2")], "2"],
		[
			"the one that ended the chain, when it did",
			[job("1", { decision: { word: "cap", retries: 0 } }), job("2", { reason: "cap" })],
			"2",
		],
		["not one that never began", [job("1"), job("2", { startedAt: null })], "1"],
		[
			"not one that found its predecessor taken",
			[job("1", { decision: resumed }), job("2"), job("3", { reason: "claimed" })],
			"2",
		],
		["not one that only saw the stop mark", [job("1"), job("2", { reason: "stopped" })], "1"],
		["none before the first began", [job("1", { startedAt: null })], null],
	])("%s", (_, segments, id) => {
		expect(lastOfChain(segments)?.jobId ?? null).toBe(id);
	});
});

interface Case {
	readonly status: RunStatus;
	readonly last?: Partial<Segment>;
	readonly used?: Partial<ChainRecord>;
	readonly limits?: Partial<typeof LIMITS>;
}

const LIMITS = { maxRetries: 3, maxWalltime: null as number | null, noProgress: 3 as number | null };

function runOf({ status, last = {}, used = {} }: Case) {
	const chain: ChainRecord = { retries: 0, walltime: 0, idle: 0, budget: LIMITS, ...used };
	return makeRun(desired, { status, chain, segments: [job("1", { elapsed: 100, ...last })] });
}

describe("the budget", () => {
	test.each<readonly [string, Case, string | null]>([
		["a first failure", { status: "failed" }, null],
		["the failure that spends the last retry", { status: "failed", used: { retries: 2 } }, null],
		["one failure more", { status: "failed", used: { retries: 3 } }, "retries"],
		["no retries at all", { status: "failed", limits: { maxRetries: 0 } }, "retries"],
		["a time limit spends none", { status: "timeout", used: { retries: 3 } }, null],
		[
			"a failure that a later job counted already",
			{ status: "failed", last: { decision: resumed }, used: { retries: 3 } },
			null,
		],
		[
			"what a segment stopped for",
			{ status: "stopped", last: { reason: "retries" }, used: { retries: 4 } },
			"retries",
		],
		[
			"the same under a raised limit",
			{ status: "stopped", last: { reason: "retries" }, used: { retries: 4 }, limits: { maxRetries: 4 } },
			null,
		],
		[
			"the cap, with what the last job took",
			{ status: "timeout", used: { walltime: 500 }, limits: { maxWalltime: 600 } },
			"cap",
		],
		[
			"a second below the cap",
			{ status: "timeout", used: { walltime: 499 }, limits: { maxWalltime: 600 } },
			null,
		],
		[
			"the cap holds for preemptions",
			{ status: "preempted", used: { walltime: 500 }, limits: { maxWalltime: 600 } },
			"cap",
		],
		["no progress", { status: "stopped", last: { reason: "no-progress" }, used: { idle: 3 } }, "no-progress"],
		[
			"no progress under a raised limit",
			{ status: "stopped", last: { reason: "no-progress" }, used: { idle: 3 }, limits: { noProgress: 5 } },
			null,
		],
		[
			"no progress without a limit",
			{ status: "stopped", last: { reason: "no-progress" }, used: { idle: 3 }, limits: { noProgress: null } },
			null,
		],
	])("%s", (_, one, by) => {
		expect(spentLimit(runOf(one), { ...LIMITS, ...one.limits })).toBe(by);
	});
});

describe("what becomes of a run", () => {
	test.each<readonly [RunStatus, Partial<Segment>, string]>([
		["timeout", {}, "goes-on"],
		["preempted", {}, "goes-on"],
		["node-fail", {}, "goes-on"],
		["failed", {}, "goes-on"],
		["unknown", { state: "RUNNING" }, "goes-on"],
		["unknown", { state: "COMPLETED" }, "waits"],
		["stopped", { reason: "cap" }, "goes-on"],
		["stopped", { reason: "over" }, "waits"],
		["cancelled", {}, "waits"],
		["succeeded", {}, "waits"],
		["refused", {}, "waits"],
		["running", {}, "waits"],
	])("that is %s (%j): %s", (status, last, kind) => {
		expect(resumption(runOf({ status, last }), LIMITS).kind).toBe(kind);
	});

	test("whose budget is spent says by what", () => {
		expect(resumption(runOf({ status: "failed", used: { retries: 3 } }), LIMITS)).toEqual({
			kind: "spent",
			by: "retries",
		});
	});
});
