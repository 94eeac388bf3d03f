/** A place that keeps one stack's state. One contract test suite covers every backend. */
import type { StateDocument } from "./document.ts";

/** Who holds the lock, for messages and for `gym state unlock`. */
export interface Holder {
	/** Uuid of this one lock. */
	readonly id: string;
	/** What it is doing, e.g. `apply`. */
	readonly operation: string;
	readonly user: string;
	readonly host: string;
	readonly pid: number;
	/** When that process started, in its host's own notation; null when not known. Tells a reused pid apart. */
	readonly startTime: string | null;
	/** Within which boot of which machine `pid` means something; null when not known. */
	readonly bootId: string | null;
	/** Heartbeat counter: expiry is "has not moved for the TTL", never a comparison of clocks. */
	readonly beat: number;
}

/** A held lock. Its writes are refused once somebody took over (fencing). */
export interface Lease {
	readonly holder: Holder;
	/** The holder whose expired lock this one replaced, to be shown; null when the lock was free. */
	readonly tookOver: Holder | null;
	/** The state as it stands under the lock; null when there is none yet. */
	read(): Promise<StateDocument | null>;
	/**
	 * Writes the next state by compare-and-swap: `next.serial` is the serial that was read (0 when there was
	 * none), the store sets the new serial, stack, fence, writer and, the first time, the lineage.
	 * @param label names the write in `Points`: `state.<label>.before`, `.staged` and `.linked`
	 * @returns what was written, to base the next write on
	 * @throws GymError exit `stale`, code `state-moved`, when somebody else wrote or took the lock over
	 */
	write(next: StateDocument, label: string): Promise<StateDocument>;
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
	 * Takes the lock, when it is free or its holder's lease has expired. With `timeoutSeconds` 0 it tries once;
	 * a holder on another machine can only be seen to have expired within a wait longer than the TTL.
	 * @throws GymError code `state-locked`, naming the holder: exit `locked` after one try, `timedOut` after a wait
	 */
	acquire(stack: string, operation: string, options: { timeoutSeconds: number }): Promise<Lease>;
	/** Removes a lock by the id of its holder. @throws GymError code `lock-unknown` when it is not held under that id */
	unlock(stack: string, id: string): Promise<void>;
	/** Serials that are kept, newest first, with the version that wrote them (null: cannot be read). */
	history(stack: string): Promise<readonly { serial: number; writer: string | null; bytes: number }[]>;
	/** Names of the stacks that have a state here. */
	stacks(): Promise<readonly string[]>;
}
