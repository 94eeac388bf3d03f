/** The end record that every segment leaves in `ends/<job id>`: `exit=0 why=finished at=1764510000`. */

export interface EndRecord {
	/** What the batch script exited with. */
	readonly exit: number;
	/** Why it ended, one word. */
	readonly why: string;
	/** Epoch seconds of the cluster; null when not recorded. */
	readonly at: number | null;
	/** What it is about, e.g. the service that died; null when nothing in particular. */
	readonly what: string | null;
}

/** Reads an end record; null when it is empty or cut off, which counts as none. */
export function parseEndRecord(text: string): EndRecord | null {
	const fields = new Map(
		[...text.matchAll(/(?:^|\s)([a-z]+)=(\S*)/g)].map((match) => [match[1]!, match[2]!] as const),
	);
	const exit = number(fields.get("exit"));
	const why = fields.get("why");
	if (exit === null || !why) return null;
	return { exit, why, at: number(fields.get("at")), what: fields.get("what") ?? null };
}

function number(text: string | undefined): number | null {
	return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}
