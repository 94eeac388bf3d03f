/** State documents for tests. */
import type { AddressRecord, RunRecord, StateDocument } from "../../../../state/document.ts";
import { emptyState } from "../../../../state/document.ts";

export function runRecord(changes: Partial<RunRecord> = {}): RunRecord {
	return {
		runDir: "/lustre/evals/gym-job-1",
		runId: "gym-job-1",
		jobDir: "/lustre/evals/gym-job-1/math",
		fingerprint: "1:abc",
		submittedBy: "alice",
		status: "running",
		note: null,
		segments: [
			{
				cluster: null,
				jobId: "42",
				submittedAt: 1_700_000_000,
				state: "RUNNING",
				exitCode: null,
				reason: null,
				startedAt: 1_700_000_010.5,
				endedAt: null,
				elapsed: 3,
				nodes: "n[1-2]",
				decision: null,
			},
		],
		chain: null,
		error: null,
		progress: { done: 1, expected: null, rewardSum: 0.5, rewardCount: 1, rewardSquares: 0.25, offset: 120 },
		rendered: { "job.sh": "#!/bin/bash\necho 'ü'\n", "otel/collector.yaml": "a: 1\n" },
		document: "name: math\n",
		...changes,
	};
}

/** A state with one benchmark `math` that has run twice. */
export function sampleState(stack: string): StateDocument {
	const math: AddressRecord = {
		current: runRecord(),
		history: [runRecord({ status: "succeeded", progress: null })],
	};
	return {
		...emptyState(stack),
		lineage: "lineage-1",
		serial: 1,
		writer: "0.1.0",
		cluster: { type: "slurm", name: "slurm", hostname: "login1", outputPath: "/lustre/evals" },
		benchmarks: new Map([["math", math]]),
	};
}

/** A first state to write, told from others by its benchmark. */
export function firstState(stack: string, benchmark = "math"): StateDocument {
	return { ...emptyState(stack), benchmarks: new Map([[benchmark, { current: runRecord(), history: [] }]]) };
}
