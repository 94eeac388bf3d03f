/** Runs that are told from records. */
import { expect, test } from "vitest";
import { foundRuns } from "../../../src/plan/adopt.ts";
import { makeDesired } from "./runs.ts";

function record(benchmark: string, fingerprints: unknown) {
	const record = JSON.stringify({
		gym_job_id: "gym-job-1",
		run_dir: "/evals/gym-job-1",
		submitted_by: "alice",
		benchmarks: [{ benchmark, job_dir: `/evals/gym-job-1/${benchmark}`, job_id: "7" }],
		executor_metadata: { gymfile_fingerprints: fingerprints },
	});
	return [{ record, document: null, ids: "" }];
}

const find = (benchmark: string, fingerprints: unknown) =>
	foundRuns(makeDesired(benchmark), record(benchmark, fingerprints), "alice", () => null);

test.each(["gsm8k", "__proto__", "constructor"])("the fingerprint of %s is its own", (name) => {
	const all = JSON.stringify(Object.fromEntries([[name, "1:abc"]]));
	expect(find(name, all)).toMatchObject([{ fingerprint: "1:abc", segments: [{ jobId: "7" }] }]);
});

test.each(["{}", "null", "[]", "5", "no JSON", '{"constructor":5}'])("%s names no fingerprint", (all) => {
	expect(find("constructor", all)).toMatchObject([{ fingerprint: "" }]);
});
