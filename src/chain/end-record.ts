/** The end record that every segment leaves in `ends/<job id>`: `exit=0 why=finished at=1764510000 elapsed=60 name=`. */

export interface EndRecord {
	/** What the batch script exited with. */
	readonly exit: number;
	/** Why it ended, one word. */
	readonly why: string;
	/** Epoch seconds of the cluster; null when not recorded. */
	readonly at: number | null;
	/** Seconds that the script ran; null when not recorded. */
	readonly elapsed: number | null;
	/** The service that it is about; null when none. */
	readonly name: string | null;
}

/** Reads an end record; null when it is empty or cut off, which counts as none. */
export function parseEndRecord(text: string): EndRecord | null {
	const match = /^exit=(\d+) why=(\S+)(?: at=(\d+))?(?: elapsed=(\d+))?(?: name=(.*))?$/m.exec(text);
	if (!match) return null;
	const [, exit, why, at, elapsed, name] = match;
	const number = (digits: string | undefined) => (digits === undefined ? null : Number(digits));
	return { exit: Number(exit), why: why!, at: number(at), elapsed: number(elapsed), name: name || null };
}
