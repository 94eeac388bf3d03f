/**
 * The end record that every segment leaves in `ends/<job id>`: `exit=0 why=finished at=1764510000 elapsed=60 name=`.
 * That of a job with a collector also has ` collector=ok` or ` collector=died` before the name.
 */

/** What a segment's own decision to end means. */
export interface Decided {
	/** It followed its predecessor, so that the chain goes on after it. */
	readonly follows: boolean;
	/** It tells how the run ended; else its predecessor does. */
	readonly tells: boolean;
	/** A limit was reached. */
	readonly limit: boolean;
}

/** The `why` of segments that looked, decided, and did no work. */
export const DECIDED: ReadonlyMap<string, Decided> = new Map([
	["over", { follows: true, tells: false, limit: false }],
	["claimed", { follows: false, tells: false, limit: false }],
	["stopped", { follows: false, tells: true, limit: false }],
	["retries", { follows: true, tells: true, limit: true }],
	["cap", { follows: true, tells: true, limit: true }],
	["no-progress", { follows: true, tells: true, limit: true }],
]);

export interface EndRecord {
	/** What the batch script exited with. */
	readonly exit: number;
	/** Why it ended, one word. */
	readonly why: string;
	/** Epoch seconds of the cluster; null when not recorded. */
	readonly at: number | null;
	/** Seconds that the script ran; null when not recorded. */
	readonly elapsed: number | null;
	/** Did the collector die during the run? Telemetry is incomplete then. */
	readonly collectorDied: boolean;
	/** The service that it is about; null when none. */
	readonly name: string | null;
}

/** Reads an end record; null when it is empty or cut off, which counts as none. */
export function parseEndRecord(text: string): EndRecord | null {
	const match =
		/^exit=(\d+) why=(\S+)(?: at=(\d+))?(?: elapsed=(\d+))?(?: collector=(\S+))?(?: name=(.*))?$/m.exec(text);
	if (!match) return null;
	const [, exit, why, at, elapsed, collector, name] = match;
	const number = (digits: string | undefined) => (digits === undefined ? null : Number(digits));
	return {
		exit: Number(exit),
		why: why!,
		at: number(at),
		elapsed: number(elapsed),
		collectorDied: collector === "died",
		name: name || null,
	};
}
