/** When runs that the state does not know are looked for, and what that costs. */
import { describe, expect, test } from "vitest";
import { findUnknownRuns } from "../../../src/apply/find-runs.ts";
import type { Observation, Scheduler } from "../../../src/cluster/scheduler.ts";
import type { StateDocument } from "../../../state/document.ts";
import { makeDesired, makeRun, makeState } from "../plan/runs.ts";

const CLUSTER = { type: "slurm", name: "lab", hostname: null, outputPath: "/evals/" } as const;
const OUTSIDE = "/evals/gym-job-9";

/** A cluster with one submission of these benchmarks that no state knows, and one job in the queue for each. */
function cluster(benchmarks: readonly string[]) {
	const asked: string[] = [];
	const record = JSON.stringify({
		gym_job_id: "gym-job-9",
		run_dir: OUTSIDE,
		submitted_by: "alice",
		benchmarks: benchmarks.map((benchmark) => ({
			benchmark,
			job_dir: `${OUTSIDE}/${benchmark}`,
			job_id: null,
		})),
	});
	const queue = benchmarks.map((benchmark, index) => ({
		jobId: String(index + 1),
		state: "RUNNING",
		user: "alice",
		workDir: `${OUTSIDE}/${benchmark}`,
	}));
	const files = {
		exists: true,
		ends: new Map(),
		chain: null,
		control: "",
		chainFiles: new Map(),
		recordedIds: [],
	};
	const rollouts = { expected: null, rollouts: null, rolloutsCut: false };
	const seen = { at: 5, user: "alice", queue, accounting: null, preflight: null } as unknown as Observation;
	const scheduler = {
		async find() {
			asked.push("find");
			return [{ record, document: null, ids: "" }];
		},
		async observe(queries: readonly { readonly jobDir: string }[]) {
			asked.push("observe");
			return { ...seen, runs: new Map(queries.map(({ jobDir }) => [jobDir, { ...files, ...rollouts }])) };
		},
	} as unknown as Scheduler;
	const find = (state: StateDocument | null, observation: Partial<Observation> = {}) =>
		findUnknownRuns(
			"math",
			benchmarks.map((name) => makeDesired(name)),
			state,
			scheduler,
			CLUSTER,
			{
				...seen,
				...observation,
			},
		);
	return { asked, find };
}

describe("the number of exchanges", () => {
	test.each([1, 40])("is two for %i unknown addresses", async (count) => {
		const names = Array.from({ length: count }, (_, index) => `bench${index}`);
		const { asked, find } = cluster(names);
		const found = await find(null);
		expect([...found.keys()]).toEqual(names);
		for (const { current } of found.values()) expect(current!.status).toBe("running");
		expect(asked).toEqual(["find", "observe"]);
	});
});

describe("an address that the state knows", () => {
	const find = async (status: "running" | "succeeded" | "submitting" | "refused", queue?: []) => {
		const { asked, find } = cluster(["gsm8k"]);
		const none = status === "refused" || status === "submitting";
		const run = makeRun(makeDesired("gsm8k"), { status, ...(none ? { segments: [] } : {}) });
		const { current = null, rivals = [] } =
			(await find(makeState({ gsm8k: run }), queue ? { queue } : {})).get("gsm8k") ?? {};
		return { looked: asked.length > 0, taken: current !== null, rivals: rivals.length };
	};

	test.each(["running", "succeeded", "submitting"] as const)(
		"%s, and no other job of it in the queue: no look",
		async (status) => {
			expect((await find(status, [])).looked).toBe(false);
		},
	);

	test("refused: looked for, somebody else may have been first", async () => {
		expect(await find("refused", [])).toMatchObject({ looked: true });
	});

	test.each(["succeeded", "refused"] as const)(
		"%s, and another run of it is live: that is taken in",
		async (status) => {
			expect(await find(status)).toEqual({ looked: true, taken: true, rivals: 0 });
		},
	);

	test.each(["running", "submitting"] as const)(
		"%s, and another run of it is live: that is only told",
		async (status) => {
			expect(await find(status)).toEqual({ looked: true, taken: false, rivals: 1 });
		},
	);

	test("jobs of other places and other benchmarks are no reason to look", async () => {
		const { asked, find } = cluster(["gsm8k"]);
		const state = makeState({ gsm8k: makeRun(makeDesired("gsm8k")) });
		const row = (workDir: string) => ({ jobId: "9", state: "RUNNING", user: "alice", workDir });
		const queue = ["/other/gym-job-1/gsm8k", "/evals/gym-job-1/gsm8k2", "/evals/gsm8k"].map(row);
		await find(state, { queue: queue as unknown as Observation["queue"] });
		expect(asked).toEqual([]);
	});
});
