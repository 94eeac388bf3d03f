import { describe, expect, test } from "vitest";
import { paintFor } from "../../../src/cli/views/paint.ts";
import { planEvents, planText } from "../../../src/cli/views/plan.ts";
import { desiredJobs } from "../../../src/plan/desired.ts";
import { readDocument, writeDocument } from "../../../src/plan/document-text.ts";
import { estimate } from "../../../src/plan/estimate.ts";
import type { Desired } from "../../../src/plan/plan.ts";
import type { Value } from "../../../src/submit/config.ts";
import { float } from "../../../src/submit/float.ts";
import { config, type Parts } from "../job/document.ts";
import { makePlan, makeRun, makeState } from "./runs.ts";

const desired = (parts: Parts): Desired =>
	desiredJobs(config(parts), { stack: "math", toolVersion: "0.1.0" }).desired[0]!;

describe("a walltime without an end", () => {
	test.each(["UNLIMITED", "infinite", null])("%s has no bound, on no screen and in no event", (walltime) => {
		const one = desired({ compute: { walltime } });
		expect(one.size.walltime).toBeNull();
		const plan = makePlan([one], null);
		expect(estimate(plan.actions, null).atMost).toBeNull();
		expect(planText(plan, { showJob: "none", paint: paintFor(0) })).toContain("no time limit");
		expect(JSON.stringify(planEvents(plan))).toContain('"walltime":null');
		expect(JSON.stringify(planEvents(plan))).not.toContain("Infinity");
	});

	test("is still asked for as it is written", () => {
		expect(desired({ compute: { walltime: "UNLIMITED" } }).rendered["job.sh"]).toContain(
			"--time=UNLIMITED\n",
		);
	});
});

describe("a float that becomes an integer", () => {
	const run = (temperature: Value) =>
		desired({
			benchmark: {
				run: new Map<string, Value>([
					["temperature", temperature],
					["n", float(4)],
				]),
			},
		});
	const state = makeState({ sums: makeRun(run(float(1)), { status: "succeeded" }) });

	test("is a change, shown with its point", () => {
		const plan = makePlan([run(1)], state);
		expect(plan.actions[0]).toMatchObject({ kind: "resubmit", changes: [{ before: float(1), after: 1 }] });
		expect(planText(plan, { showJob: "none", paint: paintFor(0) })).toMatch(
			/run\.temperature +1\.0 → 1\b|temperature +1\.0 → 1\b/,
		);
		expect(JSON.stringify(planEvents(plan))).toContain('"before":1,"after":1');
	});

	test("stays a float in the state", () => {
		expect(makePlan([run(float(1))], state).actions[0]).toMatchObject({ kind: "none" });
		const { document } = run(float(1));
		expect(readDocument(writeDocument(document))).toEqual(document);
	});
});

test("a benchmark's own command is a file of its own", () => {
	const { rendered } = desired({ benchmark: { command: "make it so" } });
	expect(rendered["command.sh"]).toBe("make it so");
	expect(rendered["job.sh"]).not.toContain("make it so");
	expect(Object.keys(desired({}).rendered)).toEqual(["job.sh"]);
});
