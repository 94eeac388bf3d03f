import { describe, expect, test } from "vitest";
import { type DecideOptions, decide } from "../../../src/plan/decide.ts";
import type { Desired } from "../../../src/plan/plan.ts";
import { isLive, type RunStatus } from "../../../state/document.ts";
import { makeDesired, makeDocument, makeRun, makeState } from "./runs.ts";

const OPTIONS: DecideOptions = { stack: "math", replace: [], user: "alice" };
const same = makeDesired("gsm8k");
const changed = makeDesired("gsm8k", {
	document: makeDocument("acme/talker-32b"),
	rendered: { "job.sh": "#!/bin/bash\nvllm serve acme/talker-32b\n" },
});

function decideOne(desired: Desired, status: RunStatus, options: Partial<DecideOptions> = {}) {
	const state = makeState({ gsm8k: makeRun(same, { status }) });
	const [action, ...more] = decide([desired], state, { ...OPTIONS, ...options });
	expect(more).toEqual([]);
	return action!;
}

describe("an address without a run", () => {
	test("is submitted, with the whole job as new text", () => {
		const [action] = decide([same], null, OPTIONS);
		expect(action).toMatchObject({
			address: "math/gsm8k",
			kind: "submit",
			reason: "not-in-state",
			run: null,
			cacheValid: null,
			scriptNote: false,
		});
		expect(action!.files[0]!.lines).toContain("+vllm serve acme/talker-8b");
	});
});

describe("an unchanged job", () => {
	test.each([
		["submitting", "submit", "unfinished-submission"],
		["held", "submit", "unfinished-submission"],
		["refused", "submit", "unfinished-submission"],
		["pending", "none", "unchanged"],
		["running", "none", "unchanged"],
		["completing", "none", "unchanged"],
		["succeeded", "none", "unchanged"],
		["failed", "decide", "failed"],
		["timeout", "decide", "timed-out"],
		["cancelled", "decide", "cancelled"],
		["preempted", "decide", "preempted"],
		["node-fail", "decide", "node-failed"],
		["stopped", "decide", "stopped"],
		["unknown", "decide", "lost"],
	] as const)("with a run that is %s: %s, %s", (status, kind, reason) => {
		const action = decideOne(same, status);
		expect(action).toMatchObject({ kind, reason, changes: [], files: [] });
		expect(action.refused).toBeUndefined();
	});

	test("whose script differs through an upgrade is no change, only a note", () => {
		const upgraded = { ...same, rendered: { "job.sh": "#!/bin/bash\nset -u\nvllm serve acme/talker-8b\n" } };
		expect(decideOne(upgraded, "running")).toMatchObject({ kind: "none", scriptNote: true });
	});

	test("whose fingerprint only has another version is no change", () => {
		expect(decideOne({ ...same, fingerprint: "2:other" }, "succeeded")).toMatchObject({ kind: "none" });
	});
});

describe("a changed job", () => {
	const ended: readonly RunStatus[] = [
		"refused",
		"succeeded",
		"failed",
		"timeout",
		"cancelled",
		"preempted",
		"node-fail",
		"stopped",
		"unknown",
	];
	test.each(ended)("whose run is %s is resubmitted", (status) => {
		const action = decideOne(changed, status);
		expect(action).toMatchObject({ kind: "resubmit", reason: "changed", cacheValid: false });
		expect(action.refused).toBeUndefined();
		expect(action.changes).toMatchObject([{ path: ["services", "policy", "model"], class: "results" }]);
		expect(action.files[0]!.lines).toContain("-vllm serve acme/talker-8b");
	});

	const live: readonly RunStatus[] = ["submitting", "held", "pending", "running", "completing"];
	test.each(live)("whose run is %s is refused, with the way out", (status) => {
		const action = decideOne(changed, status);
		expect(isLive(status)).toBe(true);
		expect(action).toMatchObject({ kind: "resubmit", reason: "live-chain", refused: { code: "live-chain" } });
		expect(action.refused!.message).toContain("job 88123");
		expect(action.refused!.remedy).toContain("gym cancel math/gsm8k");
		expect(action.changes).toHaveLength(1);
	});

	test("may replace a live run when its lifecycle says so", () => {
		const action = decideOne({ ...changed, onChange: "replace" }, "running");
		expect(action).toMatchObject({ kind: "resubmit", reason: "changed" });
		expect(action.refused).toBeUndefined();
	});

	test("does not go on with the cache when only its speed changed: its run directory is another one", () => {
		const faster = makeDesired("gsm8k", { document: makeDocument("acme/talker-8b", 8) });
		expect(decideOne(faster, "failed")).toMatchObject({ kind: "resubmit", cacheValid: false });
	});

	test("points at the line of the benchmark and of the change", () => {
		const located: Desired = {
			...changed,
			sources: {
				locate: (path) => ({ source: { file: "gymfile.ts", line: path.length }, construct: "math/x" }),
			},
		};
		const action = decideOne(located, "running");
		expect(action.refused).toMatchObject({ source: { file: "gymfile.ts", line: 3 }, construct: "math/x" });
		expect(action.changes[0]!.source).toEqual({ file: "gymfile.ts", line: 3 });
	});
});

describe("-replace", () => {
	test("submits an ended run again although nothing changed", () => {
		expect(decideOne(same, "failed", { replace: ["math/gsm*"] })).toMatchObject({
			kind: "resubmit",
			reason: "replace-requested",
			changes: [],
		});
	});

	test("is refused on a live run too", () => {
		expect(decideOne(same, "running", { replace: ["math/gsm8k"] }).refused).toMatchObject({
			code: "live-chain",
		});
	});

	test("of another address changes nothing", () => {
		expect(decideOne(same, "failed", { replace: ["math/gsm"] })).toMatchObject({ kind: "decide" });
	});
});

describe("a run that is resumed", () => {
	const RESUME = { resume: ["math/gsm8k"] };

	test.each([
		["failed", "resume", "failed"],
		["cancelled", "resume", "cancelled"],
		["submitting", "submit", "unfinished-submission"],
		["held", "submit", "unfinished-submission"],
	] as const)("and is %s: %s, %s", (status, kind, reason) => {
		const action = decideOne(same, status, RESUME);
		expect(action).toMatchObject({ kind, reason });
		expect(action.refused).toBeUndefined();
	});

	test.each(["pending", "running", "succeeded"] as const)("is refused while it is %s", (status) => {
		expect(decideOne(same, status, RESUME).refused).toMatchObject({ code: "not-resumable" });
	});
});

describe("a benchmark that is no longer in the gymfile", () => {
	test("is cancelled while live, after everything of the gymfile", () => {
		const state = makeState({
			gone: makeRun(makeDesired("gone"), { status: "pending" }),
			gsm8k: makeRun(same),
		});
		const actions = decide([same], state, OPTIONS);
		expect(actions.map((action) => [action.address, action.kind])).toEqual([
			["math/gsm8k", "none"],
			["math/gone", "cancel"],
		]);
		expect(actions[1]).toMatchObject({ reason: "not-in-gymfile", desired: null });
	});

	test("is left alone once it has ended", () => {
		const state = makeState({ gone: makeRun(makeDesired("gone"), { status: "failed" }) });
		expect(decide([], state, OPTIONS)).toEqual([]);
	});
});

describe("another user's live run", () => {
	test("is not touched: owner named", () => {
		const state = makeState({ gone: makeRun(makeDesired("gone")), gsm8k: makeRun(same) });
		const actions = decide([{ ...changed, onChange: "replace" }], state, { ...OPTIONS, user: "bob" });
		for (const action of actions) {
			expect(action.refused).toMatchObject({ code: "other-owner" });
			expect(action.refused!.message).toContain("alice");
		}
		expect(actions).toHaveLength(2);
	});

	test("is no obstacle when it needs nothing", () => {
		expect(decideOne(same, "running", { user: "bob" })).toMatchObject({ kind: "none" });
	});

	test("that was refused is submitted anew, in a run directory of one's own", () => {
		const action = decideOne(same, "refused", { user: "bob" });
		expect(action).toMatchObject({ kind: "resubmit", reason: "other-owner" });
		expect(action.refused).toBeUndefined();
	});
});

test("the actions stand in the order of the gymfile, numbers as names included", () => {
	const actions = decide(
		["10", "9", "__proto__"].map((name) => makeDesired(name)),
		makeState({}),
		OPTIONS,
	);
	expect(actions.map((action) => action.benchmark)).toEqual(["10", "9", "__proto__"]);
	expect(actions.every((action) => action.kind === "submit")).toBe(true);
});
