/** What the lock needs to know about this machine and process, and its time; injected, so that tests need no waiting. */
export interface Host {
	/** Login name. */
	readonly user: string;
	readonly hostname: string;
	/** Of this process. */
	readonly pid: number;
	/** Names the boot and pid namespace within which pids mean something; null when that is not known. */
	readonly bootId: string | null;
	/** Looks a process up; null when there is none. */
	processAt(pid: number): ProcessFacts | null;
	/** Milliseconds on a clock that never jumps; only differences mean something. */
	monotonicMs(): number;
	sleep(ms: number): Promise<void>;
	/** Runs `task` every `ms`, without keeping the process alive for it. Returns what stops it. */
	every(ms: number, task: () => Promise<void>): () => void;
	/** A new uuid. */
	newId(): string;
}

/** What is known of a running process. */
export interface ProcessFacts {
	/** When it started, in any notation that is equal for the same process; null when not known. */
	readonly startTime: string | null;
}
