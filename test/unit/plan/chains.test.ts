/** What a plan does with chains: goes on by itself, leaves the decision to a person, updates in place. */
import { describe, expect, test } from "vitest";
import { type DecideOptions, decide } from "../../../src/plan/decide.ts";
import type { Desired } from "../../../src/plan/plan.ts";
import type { Value } from "../../../src/submit/config.ts";
import type { ChainLimits, RunRecord } from "../../../state/document.ts";
import { makeDesired, makeRun, makeSegment, makeState, toValue } from "./runs.ts";

const LIMITS: ChainLimits = { maxRetries: 3, maxWalltime: null, noProgress: 3 };

interface Job {
	readonly limits?: Partial<ChainLimits>;
	readonly resumable?: boolean;
	readonly walltime?: string | null;
	readonly comment?: string;
	readonly model?: string;
	readonly type?: string;
}

function wanted({
	limits,
	resumable = true,
	walltime = "04:00:00",
	comment,
	model = "m",
	type = "slurm",
}: Job = {}): Desired {
	const all = { ...LIMITS, ...limits };
	const section = { max_retries: all.maxRetries, max_walltime: all.maxWalltime };
	const document = toValue({
		services: { policy: { type: "vllm", model } },
		compute: { lab: { type, walltime, extra_args: comment === undefined ? {} : { comment } } },
		driver: { benchmarks: { b: { resumable: resumable ? section : false } } },
	}) as ReadonlyMap<string, Value>;
	return makeDesired("b", { document, limits: resumable ? all : null });
}

const before = wanted();
const ended = makeSegment("7", { startedAt: 1, endedAt: 61, elapsed: 60 });

function runIn(more: Partial<RunRecord> = {}, from = before): RunRecord {
	const chain = from.limits && { retries: 0, walltime: 0, idle: 0, budget: from.limits };
	return makeRun(from, { chain, segments: [ended], ...more });
}

function planned(run: RunRecord, now: Desired = before, options: Partial<DecideOptions> = {}) {
	const found = decide([now], makeState({ b: run }), {
		stack: "math",
		replace: [],
		user: "alice",
		...options,
	});
	expect(found).toHaveLength(1);
	return found[0]!;
}

const used = { retries: 0, walltime: 0, idle: 0, budget: LIMITS };
const SPENT = { retries: { retries: 4 }, cap: { walltime: 600 }, "no-progress": { idle: 3 } };
const stoppedFor = (reason: keyof typeof SPENT) =>
	runIn({
		status: "stopped",
		chain: { ...used, ...SPENT[reason] },
		segments: [ended, makeSegment("8", { startedAt: 62, endedAt: 63, elapsed: 1, reason })],
	});

describe("a chain that stopped short", () => {
	test.each([
		["timeout", "timed-out"],
		["preempted", "preempted"],
		["node-fail", "node-failed"],
		["failed", "failed"],
		["unknown", "lost"],
	] as const)("is resumed when it is %s", (status, reason) => {
		const action = planned(runIn({ status }));
		expect(action).toMatchObject({ kind: "resume", reason, goOn: { decided: false, resetCounters: false } });
		expect(action.refused).toBeUndefined();
	});

	test.each([
		[
			"that is not resumable",
			runIn({ status: "timeout" }, wanted({ resumable: false })),
			wanted({ resumable: false }),
		],
		["that was cancelled", runIn({ status: "cancelled" }), before],
		["whose retries are spent", runIn({ status: "failed", chain: { ...used, retries: 3 } }), before],
		["that stopped for its retries", stoppedFor("retries"), before],
		["that stopped without progress", stoppedFor("no-progress"), before],
	] as const)("needs a decision %s", (_, run, now) => {
		expect(planned(run, now)).toMatchObject({ kind: "decide", run });
	});

	test("is a new submission for another user", () => {
		expect(planned(runIn({ status: "timeout" }), before, { user: "bob" }).kind).toBe("decide");
	});

	test.each([
		["retries", { maxRetries: 4 }],
		["cap", { maxWalltime: 700 }],
		["no-progress", { noProgress: 5 }],
	] as const)("for %s goes on when that limit is raised", (reason, limits) => {
		const action = planned(stoppedFor(reason), wanted({ limits }));
		expect(action).toMatchObject({ kind: "resume", reason: "stopped", goOn: { decided: false } });
		expect(action.changes).toHaveLength(reason === "no-progress" ? 0 : 1);
	});

	test("for its retries does not go on for a limit that is still too low, or another one", () => {
		for (const limits of [{ maxRetries: 2 }, { noProgress: 9 }]) {
			expect(planned(stoppedFor("retries"), wanted({ limits })).kind).toBe("decide");
		}
	});

	test("is submitted anew when its job changed", () => {
		expect(planned(runIn({ status: "timeout" }), wanted({ model: "other" }))).toMatchObject({
			kind: "resubmit",
			reason: "changed",
		});
	});
});

test("changed limits of a run that is done are no change", () => {
	expect(planned(runIn({ status: "succeeded" }), wanted({ limits: { maxRetries: 9 } })).kind).toBe("none");
});

describe("a live run", () => {
	const pending = runIn({ status: "pending" });
	const running = runIn({ status: "running" });
	const single = wanted({ resumable: false });

	test.each([
		["limits, running", running, wanted({ limits: { maxRetries: 9, maxWalltime: 600 } }), 2],
		["limits, pending", pending, wanted({ limits: { maxWalltime: 600 } }), 1],
		["a limit outside of the document", running, wanted({ limits: { noProgress: 9 } }), 0],
		["walltime, pending", pending, wanted({ walltime: "08:00:00" }), 1],
		["walltime of the next segment", running, wanted({ walltime: "08:00:00" }), 1],
		["comment, pending", pending, wanted({ comment: "a b" }), 1],
		[
			"walltime of a single job that waits",
			runIn({ status: "pending" }, single),
			wanted({ resumable: false, walltime: "08:00:00" }),
			1,
		],
	] as const)("takes up %s", (_, run, now, count) => {
		const action = planned(run, now);
		expect(action).toMatchObject({ kind: "update", reason: "limits-changed" });
		expect(action.changes).toHaveLength(count);
		expect(action.refused).toBeUndefined();
		expect(planned(run, { ...now, onChange: "replace" }).kind).toBe("update");
	});

	test.each([
		["another model", running, wanted({ model: "other", limits: { maxRetries: 9 } })],
		["resumable switched off", running, single],
		["resumable switched on", runIn({ status: "running" }, single), before],
		[
			"walltime of a single job that runs",
			runIn({ status: "running" }, single),
			wanted({ resumable: false, walltime: "08:00:00" }),
		],
		["a walltime that is taken away", pending, wanted({ walltime: null })],
		[
			"walltime of a local job",
			runIn({ status: "pending" }, wanted({ type: "local" })),
			wanted({ type: "local", walltime: "08:00:00" }),
		],
	] as const)("does not take up %s", (_, run, now) => {
		expect(planned(run, now)).toMatchObject({ kind: "resubmit", refused: { code: "live-chain" } });
	});

	test("whose limits are lost gets them back", () => {
		const lost = runIn({ status: "running", chain: { ...used, budget: null } });
		expect(planned(lost)).toMatchObject({ kind: "update", changes: [] });
	});

	test("of another user is left alone", () => {
		const action = planned(running, wanted({ limits: { maxRetries: 9 } }), { user: "bob" });
		expect(action).toMatchObject({ kind: "update", refused: { code: "other-owner" } });
	});

	test("that took everything up is unchanged", () => {
		const now = wanted({ limits: { maxRetries: 9 } });
		expect(planned(runIn({ status: "running" }, now), now).kind).toBe("none");
	});

	test("is replaced as a whole where its lifecycle says so", () => {
		const now = { ...wanted({ model: "other" }), onChange: "replace" as const };
		const action = planned(running, now);
		expect(action).toMatchObject({ kind: "resubmit", reason: "changed" });
		expect(action.refused).toBeUndefined();
	});
});

describe("gym resume", () => {
	const asked = { resume: ["math/b"] };
	const reset = { ...asked, resetCounters: true };

	test("of a chain that goes on by itself does just that", () => {
		expect(planned(runIn({ status: "timeout" }), before, asked)).toMatchObject({
			kind: "resume",
			goOn: { decided: false, resetCounters: false },
		});
	});

	test("of a cancelled one is a person's decision", () => {
		expect(planned(runIn({ status: "cancelled" }), before, asked)).toMatchObject({
			kind: "resume",
			goOn: { decided: true, resetCounters: false },
		});
	});

	test.each([
		["retries", before, "all of its 3 retries", "resumable.max_retries"],
		[
			"cap",
			wanted({ limits: { maxWalltime: 600 } }),
			"its max_walltime of 00:10:00",
			"resumable.max_walltime",
		],
		["no-progress", before, "3 times in a row without progress", "lifecycle.noProgressLimit"],
	] as const)("is refused when the chain stopped for %s, with the way out", (reason, now, message, limit) => {
		const { kind, refused } = planned(stoppedFor(reason), now, asked);
		expect(kind).toBe("resume");
		expect(refused).toMatchObject({ code: "budget-spent", message: expect.stringContaining(message) });
		expect(refused!.remedy).toContain("--reset-counters");
		expect(refused!.remedy).toContain(limit);
	});

	test.each(["retries", "cap", "no-progress"] as const)(
		"--reset-counters lets it go on after %s",
		(reason) => {
			const now = wanted({ limits: { maxWalltime: 600, maxRetries: 0 } });
			const action = planned(stoppedFor(reason), now, reset);
			expect(action).toMatchObject({ kind: "resume", goOn: { decided: true, resetCounters: true } });
			expect(action.refused).toBeUndefined();
		},
	);

	test("--reset-counters cannot make room where the last job alone is above the cap", () => {
		const now = wanted({ limits: { maxWalltime: 60 } });
		const { refused } = planned(runIn({ status: "timeout" }), now, reset);
		expect(refused).toMatchObject({ code: "budget-spent" });
		expect(refused!.remedy).not.toContain("--reset-counters");
	});

	test("takes up raised limits, and refuses another job", () => {
		const raised = planned(stoppedFor("retries"), wanted({ limits: { maxRetries: 9 } }), asked);
		expect(raised).toMatchObject({ kind: "resume", goOn: { decided: false } });
		expect(planned(stoppedFor("retries"), wanted({ model: "other" }), asked).refused).toMatchObject({
			code: "not-resumable",
		});
	});

	test("finishes one that was cut short, as it was decided", () => {
		expect(planned(runIn({ status: "submitting" }), before, reset)).toMatchObject({
			kind: "submit",
			reason: "unfinished-submission",
			goOn: { decided: true, resetCounters: true },
		});
	});
});
