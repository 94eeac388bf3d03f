/** The journal of a run's jobs, `chain.jsonl`: one JSON object a line, written by the jobs themselves. Pure. */
import * as z from "zod";
import type { Decision } from "../../state/document.ts";

/** What the journal tells of one job. */
export interface JournalEntry {
	/** Its first line, epoch seconds of the cluster; null when it never began. */
	readonly beganAt: number | null;
	/** Did the benchmark's own program begin? */
	readonly ran: boolean;
	/** Was it queued by the job before it? */
	readonly queuedByChain: boolean;
	/** How it ended, in the scheduler's words, as a later job heard it; null when none did. */
	readonly state: string | null;
	/** Seconds, as a later job heard it. */
	readonly elapsed: number | null;
	readonly decision: Decision | null;
}

/** By job id, in the order in which the jobs came up. */
export type Journal = ReadonlyMap<string, JournalEntry>;

const EMPTY: JournalEntry = {
	beganAt: null,
	ran: false,
	queuedByChain: false,
	state: null,
	elapsed: null,
	decision: null,
};

const id = z.string().regex(/^\d+$/);

const lineSchema = z.looseObject({
	job: z.int().positive(),
	at: z.int().min(0),
	event: z.string(),
	previous: id.optional(),
	next: id.nullable().optional(),
	state: z.string().optional(),
	elapsed: z.int().min(0).nullable().optional().catch(null),
	retries: z.int().min(0).optional(),
	decision: z.string().optional(),
});

type Line = z.infer<typeof lineSchema>;

/** Reads a journal; null is an empty one. Lines that are cut off or damaged are passed over. */
export function readJournal(text: string | null): Journal {
	const journal = new Map<string, JournalEntry>();
	const add = (job: string, more: Partial<JournalEntry>) =>
		journal.set(job, { ...EMPTY, ...journal.get(job), ...more });
	for (const line of (text ?? "").split("\n").flatMap(parseLine)) {
		const job = String(line.job);
		add(job, {
			beganAt: journal.get(job)?.beganAt ?? line.at,
			...(line.event === "run" ? { ran: true } : {}),
		});
		if (line.next) add(line.next, { queuedByChain: true });
		if (line.event === "previous" && line.previous) {
			add(line.previous, judgement(line, journal.get(line.previous) ?? EMPTY));
		}
	}
	return journal;
}

function parseLine(text: string): readonly Line[] {
	try {
		return [lineSchema.parse(JSON.parse(text))];
	} catch {
		return [];
	}
}

/** A job that found its predecessor taken knows nothing more of it; who took it does. */
function judgement(line: Line, before: JournalEntry): Partial<JournalEntry> {
	const word = line.decision ?? "resume";
	if (word === "claimed") return { decision: before.decision ?? { word, retries: 0 } };
	return {
		// A person's decision to go on is noted behind the state.
		state: line.state?.replace(/ \(resumed\)$/, "") ?? before.state,
		elapsed: line.elapsed ?? before.elapsed,
		decision: { word, retries: line.retries ?? 0 },
	};
}
