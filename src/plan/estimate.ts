/** What a plan costs: nodes and GPU-hours, as a bound and as expected from earlier runs. */
import type { RunRecord, StateDocument } from "../../state/document.ts";
import { type JobSize, type PlannedAction, QUEUEING } from "./plan.ts";

export interface Estimate {
	/** Jobs that apply would queue. */
	readonly jobs: number;
	/** Nodes of all of them together. */
	readonly nodes: number;
	/** Upper bound in GPU-hours of the jobs whose GPUs are known; null is unbounded. */
	readonly atMost: number | null;
	/** Jobs without `gpus_per_node`: not in the GPU-hours. */
	readonly uncounted: number;
	/** From earlier runs that succeeded; null unless every counted job has one. */
	readonly expected: { readonly gpuHours: number; readonly runs: number } | null;
}

/** Estimates what the actions that queue a job cost. Refused actions queue none. */
export function estimate(actions: readonly PlannedAction[], state: StateDocument | null): Estimate {
	const queued = actions.flatMap((action) => {
		return QUEUEING.has(action.kind) && !action.refused && action.desired
			? [{ benchmark: action.benchmark, size: action.desired.size }]
			: [];
	});
	const counted = queued.filter((job) => job.size.gpusPerNode !== null);
	return {
		jobs: queued.length,
		nodes: queued.reduce((sum, job) => sum + job.size.nodes, 0),
		atMost: addAll(counted.map((job) => boundOf(job.size))),
		uncounted: queued.length - counted.length,
		expected: expectedOf(counted, state),
	};
}

/**
 * GPU-hours that one benchmark can use at most; null is unbounded. A resumable chain stops queueing once its
 * cap is reached, so its last job may run a whole walltime beyond it.
 */
function boundOf(size: JobSize): number | null {
	if (size.walltime === null || size.chainCap === null) return null;
	return gpuHours(size, size.chainCap === undefined ? size.walltime : size.chainCap + size.walltime);
}

function gpuHours(size: JobSize, seconds: number): number {
	return (size.nodes * (size.gpusPerNode ?? 0) * seconds) / 3600;
}

function addAll(values: readonly (number | null)[]): number | null {
	return values.reduce(
		(sum: number | null, value) => (sum === null || value === null ? null : sum + value),
		0,
	);
}

function expectedOf(
	jobs: readonly { readonly benchmark: string; readonly size: JobSize }[],
	state: StateDocument | null,
): Estimate["expected"] {
	const known = jobs.map((job) => ({ size: job.size, seconds: succeededSeconds(job.benchmark, state) }));
	if (known.length === 0 || known.some((job) => job.seconds.length === 0)) return null;
	return {
		gpuHours: known.reduce((sum, job) => sum + gpuHours(job.size, mean(job.seconds)), 0),
		runs: known.reduce((sum, job) => sum + job.seconds.length, 0),
	};
}

function succeededSeconds(benchmark: string, state: StateDocument | null): readonly number[] {
	const record = state?.benchmarks.get(benchmark);
	const runs = record ? [...(record.current ? [record.current] : []), ...record.history] : [];
	return runs
		.filter((run) => run.status === "succeeded")
		.map(elapsedOf)
		.filter((seconds) => seconds !== null);
}

/** Seconds that all jobs of a run took together; null when one of them is not known. */
export function elapsedOf(run: RunRecord): number | null {
	const begun = run.segments.filter(({ startedAt, elapsed }) => startedAt !== null || elapsed !== null);
	return begun.length === 0 ? null : addAll(begun.map((segment) => segment.elapsed));
}

function mean(values: readonly number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}
