/** The state document of one stack (spec: "State"). Never holds a secret value. Times are the cluster's epoch seconds. */

/** Format version that this program writes. Older ones migrate, newer ones are refused. */
export const STATE_VERSION = 1;

/** Status of a run, from one table (`src/chain/status.ts`). */
export type RunStatus =
	| "submitting" /* intent written, outcome of the exchange not known yet */
	| "held"
	| "pending"
	| "running"
	| "completing"
	| "succeeded"
	| "failed"
	| "timeout"
	| "cancelled"
	| "preempted"
	| "node-fail"
	| "stopped"
	| "refused" /* sbatch refused it: no job exists */
	| "unknown";

const LIVE: ReadonlySet<RunStatus> = new Set(["submitting", "held", "pending", "running", "completing"]);

/** May a run with this status still have a job? `submitting` may: its outcome is not known. */
export function isLive(status: RunStatus): boolean {
	return LIVE.has(status);
}

/** One Slurm job of a chain. Its identity is cluster + id + submit time: ids are reused. */
export interface Segment {
	readonly cluster: string | null;
	readonly jobId: string;
	readonly submittedAt: number | null;
	/** Slurm's own word, e.g. `RUNNING`; null when nothing was heard yet. */
	readonly state: string | null;
	readonly exitCode: number | null;
	/** Why it ended: the `why` of its end record, or Slurm's reason. */
	readonly reason: string | null;
	readonly startedAt: number | null;
	readonly endedAt: number | null;
	/** Seconds. */
	readonly elapsed: number | null;
	readonly nodes: string | null;
	/** What a later segment decided about it; null when none has followed it. */
	readonly decision: Decision | null;
}

/** What a segment of a chain made of its predecessor's end. */
export interface Decision {
	/** `resume`, or why the chain ended: `over`, `retries`, `cap`, `no-progress`; `claimed`: another segment was first. */
	readonly word: string;
	/** Retries that were spent by then. */
	readonly retries: number;
}

/** Limits of a chain. */
export interface ChainLimits {
	/** Failures, other than timeouts, after which it goes on. */
	readonly maxRetries: number;
	/** Seconds of all segments together; null is no cap. */
	readonly maxWalltime: number | null;
	/** Time limits in a row that may be reached without progress; null is any number. */
	readonly noProgress: number | null;
}

/** What a chain has used up so far. The segment that runs is not in it. */
export interface ChainRecord {
	/** Retries spent. */
	readonly retries: number;
	/** Seconds. */
	readonly walltime: number;
	/** Time limits in a row that were reached without progress. */
	readonly idle: number;
	/** The limits that its segments read; null when not known. */
	readonly budget: ChainLimits | null;
}

/** A job of which only its id is known. */
export function newSegment(jobId: string): Segment {
	return {
		cluster: null,
		jobId,
		submittedAt: null,
		state: null,
		exitCode: null,
		reason: null,
		startedAt: null,
		endedAt: null,
		elapsed: null,
		nodes: null,
		decision: null,
	};
}

/** Progress of a run as last seen; `null` is unknown. */
export interface Progress {
	readonly done: number;
	readonly expected: number | null;
	/** Sum of the rewards of the `done` rollouts that carry one, and how many do. */
	readonly rewardSum: number;
	readonly rewardCount: number;
	/** Sum of squared rewards, for the standard error. */
	readonly rewardSquares: number;
	/** Bytes of `rollouts.jsonl` that these numbers cover. */
	readonly offset: number;
}

/** The rendered job as the plan compares it: file name (`job.sh`, `otel/collector.yaml`) → text, run directory as a placeholder. */
export type RenderedText = Readonly<Record<string, string>>;

/** What one submission of one benchmark is and became. */
export interface RunRecord {
	/** Run directory of the submission, absolute on the cluster. */
	readonly runDir: string;
	/** `gym-job-…`, the last part of `runDir`. */
	readonly runId: string;
	/** Benchmark directory: the token by which its jobs are found again. */
	readonly jobDir: string;
	readonly fingerprint: string;
	readonly submittedBy: string | null;
	readonly status: RunStatus;
	/** One line for people: why it is in that status. */
	readonly note: string | null;
	readonly segments: readonly Segment[];
	/** Null when it is not resumable, or not known yet. */
	readonly chain: ChainRecord | null;
	/** sbatch's own words when it refused. */
	readonly error: string | null;
	readonly progress: Progress | null;
	readonly rendered: RenderedText;
	/** The validated document as this benchmark's job sees it, as canonical YAML; secrets are references. */
	readonly document: string;
}

/** What the state knows of one address (`<stack>/<benchmark>`; the key is the benchmark). */
export interface AddressRecord {
	readonly current: RunRecord | null;
	/** Earlier runs, newest first. */
	readonly history: readonly RunRecord[];
}

/** All runs of an address, the current one first. */
export function runsOf({ current, history }: AddressRecord): readonly RunRecord[] {
	return current ? [current, ...history] : history;
}

/** Where a run's cluster is, so that runs no longer in the gymfile can still be seen and cancelled. */
export interface ClusterRef {
	/** Slurm, or processes on the machine that applied. */
	readonly type: "slurm" | "local";
	/** Key of the compute entry. */
	readonly name: string;
	/** `compute.hostname`; null is this machine. */
	readonly hostname: string | null;
	readonly outputPath: string;
}

export interface StateDocument {
	readonly version: typeof STATE_VERSION;
	/** Uuid made with the first write; two states with other lineages are never the same stack. */
	readonly lineage: string;
	/** +1 each write. */
	readonly serial: number;
	/** Version of the program that wrote it. */
	readonly writer: string;
	readonly stack: string;
	readonly cluster: ClusterRef | null;
	/** Fencing: number of the lease under which this was written. */
	readonly fence: number;
	/** By benchmark name. A Map in memory (`__proto__` is only a name), an object in JSON. */
	readonly benchmarks: ReadonlyMap<string, AddressRecord>;
}

/** What a stack starts from when it has no state yet; its first write gives it a lineage and serial 1. */
export function emptyState(stack: string): StateDocument {
	return {
		version: STATE_VERSION,
		lineage: "",
		serial: 0,
		writer: "",
		stack,
		cluster: null,
		fence: 0,
		benchmarks: new Map(),
	};
}
