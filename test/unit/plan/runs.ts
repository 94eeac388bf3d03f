/** Runs, states and desired jobs for the tests of plan and views. */

import { decide } from "../../../src/plan/decide.ts";
import { writeDocument } from "../../../src/plan/document-text.ts";
import type { Desired, Plan } from "../../../src/plan/plan.ts";
import type { Value } from "../../../src/submit/config.ts";
import { emptyState, type RunRecord, type Segment, type StateDocument } from "../../../state/document.ts";

/** A document Value from plain JavaScript; objects become Maps. */
export function toValue(plain: unknown): Value {
	if (Array.isArray(plain)) return plain.map(toValue);
	if (typeof plain === "object" && plain !== null) {
		return new Map(Object.entries(plain).map(([key, item]) => [key, toValue(item)]));
	}
	return plain as Value;
}

/** A small submit document as one benchmark sees it. */
export function makeDocument(model: string, parallel = 2): ReadonlyMap<string, Value> {
	return toValue({
		services: { policy: { type: "vllm", model, tensor_parallel_size: parallel } },
		compute: { lab: { type: "slurm", account: "lab-07", walltime: "04:00:00" } },
		driver: { policy_model: "policy", benchmarks: { gsm8k: { run: { num_samples: 4 } } } },
	}) as ReadonlyMap<string, Value>;
}

export function makeDesired(benchmark: string, more: Partial<Desired> = {}): Desired {
	const document = more.document ?? makeDocument("acme/talker-8b");
	return {
		benchmark,
		document,
		fingerprint: `1:${writeDocument(document)}`,
		rendered: { "job.sh": "#!/bin/bash\nvllm serve acme/talker-8b\n" },
		size: { nodes: 1, gpusPerNode: 8, walltime: 14_400, partition: "batch" },
		limits: null,
		...more,
	};
}

export function makeSegment(jobId: string, more: Partial<Segment> = {}): Segment {
	return {
		cluster: null,
		jobId,
		submittedAt: 1000,
		state: null,
		exitCode: null,
		reason: null,
		startedAt: null,
		endedAt: null,
		elapsed: null,
		nodes: null,
		decision: null,
		...more,
	};
}

/** A run of what `desired` describes. */
export function makeRun(desired: Desired, more: Partial<RunRecord> = {}): RunRecord {
	const runId = "gym-job-20261130T101502Z-a1b2c3";
	return {
		runDir: `/evals/${runId}`,
		runId,
		jobDir: `/evals/${runId}/${desired.benchmark}`,
		fingerprint: desired.fingerprint,
		submittedBy: "alice",
		status: "running",
		note: null,
		segments: [makeSegment("88123")],
		chain: null,
		error: null,
		progress: null,
		rendered: desired.rendered,
		document: writeDocument(desired.document),
		...more,
	};
}

export function makeState(
	runs: Readonly<Record<string, RunRecord>>,
	history: Readonly<Record<string, readonly RunRecord[]>> = {},
): StateDocument {
	const benchmarks = new Map(
		Object.entries(runs).map(([name, current]) => [name, { current, history: history[name] ?? [] }]),
	);
	return { ...emptyState("math"), lineage: "a-lineage", serial: 12, benchmarks };
}

/** The plan that follows, made by alice. */
export function makePlan(
	desired: readonly Desired[],
	state: StateDocument | null,
	more: Partial<Plan> = {},
): Plan {
	return {
		stack: "math",
		cluster: "lab (login.lab.example, ssh)",
		user: "alice",
		backend: "local",
		lineage: state?.lineage ?? null,
		serial: state?.serial ?? 0,
		refreshed: true,
		actions: decide(desired, state, { stack: "math", replace: [], user: "alice" }),
		leftOut: 0,
		drift: [],
		changed: false,
		problems: [],
		state,
		...more,
	};
}
