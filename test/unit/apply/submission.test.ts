import { expect, test } from "vitest";
import { withCurrent } from "../../../src/apply/record.ts";
import { intentOf, submissionOf } from "../../../src/apply/submission.ts";
import { desiredJobs } from "../../../src/plan/desired.ts";
import { emptyState, type StateDocument } from "../../../state/document.ts";
import { config, map } from "../job/document.ts";

test("jobs do not inherit what host: hands to single steps, unless the document wants it in the job too", () => {
	const wanted = config({
		compute: { forward_env: ["FORWARDED"] },
		service: { env: map({ A: "host:TOKEN", B: "host:FORWARDED", C: "host:READ", D: "host:HOME" }) },
		driver: { env: map({ A: "host:TOKEN", E: "host:OTHER", F: "runtime:READ", G: "lit:host:X" }) },
	});
	const { desired } = desiredJobs(wanted, { stack: "lab", toolVersion: "1.2.3" });
	const cluster = { type: "slurm", name: "north", hostname: null, outputPath: "/lake/evals" } as const;
	const runDir = "/lake/evals/run-1";
	const empty: StateDocument = { ...emptyState("lab"), cluster };
	const state = desired.reduce((now, one) => withCurrent(now, one.benchmark, intentOf(one, runDir)), empty);
	const submission = submissionOf(wanted, state, desired, runDir, {
		toolVersion: "1.2.3",
		hostEnv: () => "value",
		forward: new Map([["FORWARDED", "value"]]),
		goOn: new Map(),
	});
	expect(submission.withheld).toEqual(["TOKEN", "OTHER"]);
});
