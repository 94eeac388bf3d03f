/** Jobs as a scheduler shows them: what its queue knows now, and what it keeps of them. */

/** One job as the queue shows it. Times are epoch seconds. */
export interface QueueRow {
	readonly jobId: string;
	/** `jobState` says what the word means. */
	readonly state: string;
	readonly reason: string | null;
	readonly submittedAt: number | null;
	/** When it started, or for a pending job is expected to; null when nobody knows. */
	readonly startsAt: number | null;
	/** Seconds that it has run. */
	readonly elapsed: number | null;
	/** Number of nodes. */
	readonly nodes: number | null;
	/** E.g. `node[1-4]`; null before it runs. */
	readonly nodeList: string | null;
	readonly user: string;
	/** As given at submit, symbolic links not resolved. */
	readonly workDir: string;
}

/** One job as the accounting shows it. Times are epoch seconds. It lags: by seconds for a start, by less for an end. */
export interface AccountingRow {
	readonly jobId: string;
	readonly cluster: string | null;
	/** The word without what stands behind it; `jobState` says what it means. */
	readonly state: string;
	/** Numeric user id of who cancelled it (`CANCELLED by 1000`); null for the scheduler itself and other states. */
	readonly cancelledBy: string | null;
	readonly exitCode: number | null;
	/** The signal that ended it; null for none. */
	readonly signal: number | null;
	/** Seconds. */
	readonly elapsed: number | null;
	readonly submittedAt: number | null;
	readonly startedAt: number | null;
	readonly endedAt: number | null;
	readonly nodeList: string | null;
	readonly user: string;
	/** Empty for some seconds when the end of a job that never started is heard of before its submit. */
	readonly workDir: string;
}
