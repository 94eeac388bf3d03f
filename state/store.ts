/** A place that keeps one stack's state. One contract test suite covers every backend. */
import type { StateDocument } from "./document.ts";

/** Who holds the lock, for messages and for `gym state unlock`. */
export interface Holder {
	readonly id: string;
	readonly operation: string;
	readonly user: string;
	readonly host: string;
	readonly pid: number;
	/** Heartbeat counter: expiry is "has not moved for the TTL", never a comparison of clocks. */
	readonly beat: number;
}

/** A held lock. Its writes are refused once somebody took over (fencing). */
export interface Lease {
	readonly holder: Holder;
	/** The state as it stands under the lock; null when there is none yet. */
	read(): Promise<StateDocument | null>;
	/**
	 * Writes the next state: compare-and-swap on `serial` (the store sets serial, fence, writer).
	 * @throws GymError exit `stale`, code `state-moved`, when somebody else wrote or took the lock over
	 */
	write(next: StateDocument): Promise<StateDocument>;
	/** Gives the lock back. Never throws; a lock that is no longer ours stays. */
	release(): Promise<void>;
}

export interface StateStore {
	/** For messages: `local`. */
	readonly label: string;
	/**
	 * Reads without a lock.
	 * @throws GymError exit `failure`, codes `state-unreadable`, `state-newer`; never takes a broken state for none
	 */
	read(stack: string): Promise<StateDocument | null>;
	/**
	 * Takes the lock.
	 * @throws GymError exit `locked`, code `state-locked`, naming the holder
	 */
	acquire(stack: string, operation: string, options: { timeoutSeconds: number }): Promise<Lease>;
	/** Removes a lock by the id of its holder. @throws GymError code `lock-unknown` when it is not held under that id */
	unlock(stack: string, id: string): Promise<void>;
	/** Serials that are kept, newest first, with what wrote them. */
	history(stack: string): Promise<readonly { serial: number; writer: string; bytes: number }[]>;
	/** Names of the stacks that have a state here. */
	stacks(): Promise<readonly string[]>;
}
