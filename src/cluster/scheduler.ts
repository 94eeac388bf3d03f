/**
 * What the engine asks of a cluster. Slurm is one implementation; the next ones touch neither plan nor
 * state. Every method is one exchange over the transport, however many benchmarks it is about.
 */
import type { AccountingRow, QueueRow } from "./jobs.ts";
import type { ClusterLimits } from "./limits.ts";

/** A file to be staged: path relative to its folder, text, and mode. */
export interface StagedFile {
	readonly text: string;
	readonly mode: number;
}

/** One benchmark's job in a submission. */
export interface JobRequest {
	readonly benchmark: string;
	/** Absolute; the job's working directory and the token by which it is found again. */
	readonly jobDir: string;
	readonly files: ReadonlyMap<string, StagedFile>;
	/** Job ids of earlier attempts in the same directory: never taken for this one. */
	readonly knownIds: readonly string[];
	/** The job after which a chain goes on, the argument of its script; null when it begins. */
	readonly previous: string | null;
	/** Is what the chain has used up forgotten? */
	readonly resetCounters: boolean;
	/** Benchmark directories of live runs whose place it takes: their jobs are cancelled once it is accepted, then it is released. */
	readonly replaces: readonly string[];
}

/** One apply's run directory with all its jobs. Asking again for the same one submits nothing twice. */
export interface Submission {
	/** The stack's submissions to one output path take turns. */
	readonly stack: string;
	readonly runDir: string;
	readonly outputPath: string;
	/** Files of the run directory itself, e.g. `resolved-config.yaml`. */
	readonly files: ReadonlyMap<string, StagedFile>;
	/** The record `gym-job.json` but for what only the cluster knows. */
	readonly record: JobRecord;
	readonly jobs: readonly JobRequest[];
	/** Benchmark directories that the state knows. A live run of the stack in any other one keeps its benchmark from being submitted again. */
	readonly knownDirs: readonly string[];
	/** All benchmarks of the run directory, those of earlier exchanges too: the record names them all. */
	readonly benchmarks: readonly string[];
	/** Bind-mount sources that must exist before anything is staged. */
	readonly mountSources: readonly string[];
	/** Seconds that each job may run; null for no limit. For schedulers whose job script does not say it, as Slurm's does. */
	readonly walltime: number | null;
	/** Variables forwarded into sbatch's environment, over stdin only. */
	readonly forward: ReadonlyMap<string, string>;
	/** Variables that the jobs must not inherit from the shell that submits: secrets of single steps. */
	readonly withheld: readonly string[];
}

/** The static part of `gym-job.json`; the exchange adds user, time, ids and errors. */
export interface JobRecord {
	readonly gymJobId: string;
	readonly gymVersion: string;
	readonly cluster: string;
	readonly executor: string;
	readonly hostname: string | null;
	readonly metadata: Readonly<Record<string, string>>;
}

/** What became of one benchmark's job. */
export interface JobOutcome {
	readonly benchmark: string;
	/** Null when the scheduler refused it. */
	readonly jobId: string | null;
	/** The scheduler's own words when it refused. */
	readonly error: string | null;
	readonly state: string | null;
	readonly reason: string | null;
	/** Epoch seconds, the cluster's clock. */
	readonly submittedAt: number | null;
	readonly estimatedStart: number | null;
	/** Federation cluster that sbatch named. */
	readonly cluster: string | null;
}

export interface SubmitOutcome {
	/** The user on the cluster. */
	readonly user: string;
	/** The cluster's clock at the end of the exchange, epoch seconds. */
	readonly at: number;
	readonly jobs: readonly JobOutcome[];
}

/** All submissions of a stack below an output path, or the one in a run directory, whoever made it. */
export type FindQuery = { readonly stack: string; readonly outputPath: string } | { readonly runDir: string };

/** A submission found by its record. */
export interface FoundSubmission {
	/** Text of its `gym-job.json`. */
	readonly record: string;
	/** Text of its `resolved-config.yaml`; null when it cannot be read. */
	readonly document: string | null;
	/** Text of its `submit.ids`. */
	readonly ids: string;
}

/** Most bytes of all `rollouts.jsonl` together that one exchange carries (before base64); the rest comes with the next look. */
export const ROLLOUTS_LIMIT = 40 * 1024 * 1024;

/** What we want to hear about one run. */
export interface RunQuery {
	readonly jobDir: string;
	readonly runDir: string;
	readonly jobIds: readonly string[];
	/** Read `artifacts/rollouts.jsonl` from this byte on; null: do not read it. */
	readonly rolloutsOffset: number | null;
}

/** Files in which a chain keeps what it has used up: without them it counts from nothing. */
export const COUNTER_FILES = [
	".gym_infra_retries",
	".gym_accumulated_walltime",
	".gym_idle_timeouts",
] as const;

/** The same with the file of its limits. */
export const CHAIN_FILES = ["budget.json", ...COUNTER_FILES] as const;

/** Most bytes of one `chain.jsonl` that a look carries: some hundred segments. */
export const JOURNAL_LIMIT = 256 * 1024;

/** What was found of one run on the cluster's file system; null where there is no such file. */
export interface RunFiles {
	readonly exists: boolean;
	/** Job id → text of its end record. */
	readonly ends: ReadonlyMap<string, string>;
	/** Text of `chain.jsonl`, of a very long one the end. */
	readonly chain: string | null;
	readonly control: string | null;
	/** Texts of the files in `CHAIN_FILES`, those that are there. */
	readonly chainFiles: ReadonlyMap<string, string>;
	/** Job ids that the submit exchange recorded for this directory. */
	readonly recordedIds: readonly string[];
	/** Lines of `rollouts_materialized_inputs.jsonl`. */
	readonly expected: number | null;
	/** Bytes of `rollouts.jsonl` from the offset asked for, as many as one look carries. */
	readonly rollouts: Uint8Array | null;
	/** Does `rollouts.jsonl` go on behind these bytes? */
	readonly rolloutsCut: boolean;
}

/** What a submission needs of the cluster; seen with the same look. */
export interface PreflightQuery {
	readonly outputPath: string;
	readonly mountSources: readonly string[];
}

export interface PreflightResult {
	/** Are sbatch and scontrol on PATH? */
	readonly sbatch: boolean;
	/** Does srun accept the Pyxis flags? */
	readonly pyxis: boolean;
	/** Can the output path be written, or be made? */
	readonly writable: boolean;
	readonly missingMounts: readonly string[];
	/** What the cluster allows; absent for schedulers without limits. */
	readonly limits?: ClusterLimits;
}

/** One look at the cluster. */
export interface Observation {
	/** Null when it was not asked for. */
	readonly preflight: PreflightResult | null;
	readonly at: number;
	readonly user: string;
	/** Rows of the user's queue; null when the scheduler did not answer (never "no jobs"). */
	readonly queue: readonly QueueRow[] | null;
	/** Accounting rows of the ids asked for; null when there is no accounting or no answer. */
	readonly accounting: readonly AccountingRow[] | null;
	readonly runs: ReadonlyMap<string, RunFiles>;
}

/** Result of cancelling what runs in some benchmark directories. */
export interface CancelOutcome {
	readonly at: number;
	/** Ids that were cancelled, by benchmark directory. */
	readonly cancelled: ReadonlyMap<string, readonly string[]>;
	/** Directories where jobs were still listed when we gave up. */
	readonly left: readonly string[];
}

/** What one live run is to take up. */
export interface JobUpdate {
	readonly jobDir: string;
	/** Put in place of what is there, each whole or not at all. */
	readonly files: ReadonlyMap<string, StagedFile>;
	/** What its pending jobs are told, e.g. `TimeLimit` → `04:00:00`; empty: nothing. */
	readonly queued: ReadonlyMap<string, string>;
}

/** What became of it. */
export interface UpdateOutcome {
	readonly jobDir: string;
	/** Pending jobs that were told. */
	readonly jobIds: readonly string[];
	/** The scheduler's own words when it refused; null when it did not. */
	readonly error: string | null;
}

/** Most bytes of one file that one exchange carries. */
export const LOG_LIMIT = 4 * 1024 * 1024;

/** A piece of one log file. */
export interface LogChunk {
	readonly file: string;
	/** Bytes of the file up to the end of this piece: where the next one starts. */
	readonly size: number;
	readonly text: string;
}

export interface Scheduler {
	readonly label: string;
	/** @throws GymError exit `refused`, codes `no-sbatch`, `output-path-not-writable`, `mount-missing`; exit `failure`, code `queue-silent` */
	submit(submission: Submission): Promise<SubmitOutcome>;
	/** @throws GymError exit `unreachable` */
	observe(queries: readonly RunQuery[], preflight: PreflightQuery | null): Promise<Observation>;
	/** Submissions by their records, newest first; those of a stack once no exchange of it is at work, or after two minutes. */
	find(where: FindQuery): Promise<readonly FoundSubmission[]>;
	/** Cancels exactly the user's own jobs whose working directory is one of these, after writing the stop mark. */
	cancel(jobDirs: readonly string[]): Promise<CancelOutcome>;
	/** Updates live runs in place; asking again does the same again. @throws GymError exit `failure`, code `update-failed` */
	update(updates: readonly JobUpdate[]): Promise<readonly UpdateOutcome[]>;
	/** Ends what the user's jobs that fell with their machine left running, where the scheduler does not do that itself. */
	endFallen(): Promise<void>;
	/** Reads log files of a run from the given offsets; a file not named starts `tail` lines before its end. */
	logs(jobDir: string, offsets: ReadonlyMap<string, number>, tail: number): Promise<readonly LogChunk[]>;
	close(): Promise<void>;
}
