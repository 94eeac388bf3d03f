/** Numbered texts: what a backend of files has to bring. */
import { unreadable } from "./problems.ts";

/**
 * A log of numbered texts in which each number is made exactly once. Both the serials of a state and the
 * succession of its locks are such logs.
 */
export interface NumberedLog {
	/** Where a number is kept, for messages. */
	where(number: number): string;
	/**
	 * Numbers that are kept, newest first; empty only when there surely are none.
	 * @throws GymError code `state-unreadable`
	 */
	numbers(): Promise<readonly number[]>;
	/**
	 * Text of a number; null when it is gone (dropped meanwhile, as too old).
	 * @throws GymError code `state-unreadable`
	 */
	read(number: number): Promise<string | null>;
	/**
	 * Makes `number`, whole and durable, unless it exists; drops the oldest beyond `KEPT`. `staged` runs when
	 * the text is safe but cannot be seen yet.
	 * @returns whether it was made and is the newest; the newest is never dropped, so false means that somebody
	 * else was first, even if `number` itself was free because it had been made and dropped
	 * @throws GymError code `state-unwritable`
	 */
	append(number: number, text: string, staged?: () => Promise<void>): Promise<boolean>;
	/** Replaces the text of a number, at once. @throws GymError code `state-unwritable` */
	replace(number: number, text: string): Promise<void>;
}

/** How many numbers a log keeps. */
export const KEPT = 20;

/** How often a reader looks again when what it had listed is gone. */
const LOOKS = 5;

/** One number of a log with its text. */
export interface LogEntry {
	readonly number: number;
	readonly text: string;
}

/** The newest entry; null when there is none. @throws GymError code `state-unreadable` */
export async function newestEntry(log: NumberedLog): Promise<LogEntry | null> {
	for (let look = 1; ; look++) {
		const [number] = await log.numbers();
		if (number === undefined) return null;
		const text = await log.read(number);
		if (text !== null) return { number, text };
		if (look === LOOKS) throw unreadable("state-unreadable", log.where(number), ["listed, but not there"]);
	}
}
