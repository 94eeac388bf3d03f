/** The state document as JSON: what is accepted when it is read, and the one way in which it is written. */
import * as z from "zod";
import { GymError } from "../src/errors.ts";
import { type RunStatus, STATE_VERSION, type StateDocument } from "./document.ts";
import { migrate } from "./migrations.ts";
import { newer, unreadable } from "./problems.ts";

const STATUSES = {
	submitting: true,
	held: true,
	pending: true,
	running: true,
	completing: true,
	succeeded: true,
	failed: true,
	timeout: true,
	cancelled: true,
	preempted: true,
	"node-fail": true,
	stopped: true,
	refused: true,
	unknown: true,
} satisfies Record<RunStatus, true>;

const text = z.string();
const count = z.int().min(0);

const segment = z.strictObject({
	cluster: text.nullable(),
	jobId: text,
	submittedAt: z.number().nullable(),
	state: text.nullable(),
	exitCode: z.int().nullable(),
	reason: text.nullable(),
	startedAt: z.number().nullable(),
	endedAt: z.number().nullable(),
	elapsed: z.number().nullable(),
	nodes: text.nullable(),
	// What states from before resume chains do not have is not known.
	decision: z.strictObject({ word: text, retries: count }).nullable().default(null),
});

const chain = z.strictObject({
	retries: count,
	walltime: count,
	idle: count,
	budget: z
		.strictObject({ maxRetries: count, maxWalltime: count.nullable(), noProgress: count.nullable() })
		.nullable(),
});

const progress = z.strictObject({
	done: count,
	expected: count.nullable(),
	rewardSum: z.number(),
	rewardCount: count,
	rewardSquares: z.number(),
	offset: count,
});

const run = z.strictObject({
	runDir: text,
	runId: text,
	jobDir: text,
	fingerprint: text,
	submittedBy: text.nullable(),
	status: z.enum(Object.keys(STATUSES) as RunStatus[]),
	note: text.nullable(),
	segments: z.array(segment),
	chain: chain.nullable().default(null),
	error: text.nullable(),
	progress: progress.nullable(),
	rendered: mapping(text).transform((files) => Object.fromEntries(files)),
	document: text,
});

const address = z.strictObject({ current: run.nullable(), history: z.array(run) });

/** A state document as parsed JSON, checked and turned into the types of `document.ts`. */
export const stateSchema = z.strictObject({
	version: z.literal(STATE_VERSION),
	lineage: text.min(1),
	serial: z.int().min(1),
	writer: text,
	stack: text,
	cluster: z
		.strictObject({
			type: z.enum(["slurm", "local"]),
			name: text,
			hostname: text.nullable(),
			outputPath: text,
		})
		.nullable(),
	fence: count,
	benchmarks: mapping(address),
});

const versioned = z.looseObject({ version: z.int().min(1), writer: z.unknown().optional() });

/**
 * Reads a state document, of this format or an older one; its benchmarks come sorted by name.
 * @param where names the file in messages
 * @throws GymError exit `failure`: `state-unreadable` when it is cut off or not a state, one problem for each
 * thing wrong; `state-newer` when a later program's format is needed
 */
export function parseState(text: string, where: string): StateDocument {
	const json = parseJson(text, where);
	const head = versioned.safeParse(json);
	if (!head.success) throw unreadable("state-unreadable", where, issues(head.error));
	if (head.data.version > STATE_VERSION) throw newer(where, head.data.version, head.data.writer);
	const result = stateSchema.safeParse(migrate(json, head.data.version));
	if (!result.success) throw unreadable("state-unreadable", where, issues(result.error));
	return result.data;
}

/**
 * The text of a state document: equal documents give equal bytes, keys below the top are sorted.
 * @throws GymError exit `bug`, code `state-invalid`, for a document that could not be read back
 */
export function serializeState(document: StateDocument): string {
	const { version, lineage, serial, writer, stack, cluster, fence, benchmarks } = document;
	const json = {
		version,
		lineage,
		serial,
		writer,
		stack,
		cluster: sorted(cluster),
		fence,
		benchmarks: sorted(benchmarks),
	};
	const text = `${JSON.stringify(json, null, 1)}\n`;
	const check = stateSchema.safeParse(JSON.parse(text));
	if (!check.success) {
		const problems = issues(check.error).map(
			(message) => ({ code: "state-invalid", severity: "error", at: "", message }) as const,
		);
		throw new GymError("bug", problems);
	}
	return text;
}

function parseJson(text: string, where: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		/* The parser's own message quotes the file, so it is not shown. */
		const reason = text === "" ? "the file is empty" : "not whole JSON: cut off or damaged";
		throw unreadable("state-unreadable", where, [reason]);
	}
}

/** A JSON object as a Map: zod's own record drops the key `__proto__`, which is only a name here. */
function mapping<Value extends z.ZodType>(value: Value) {
	return z
		.custom<object>((input) => typeof input === "object" && input !== null && !Array.isArray(input), {
			error: "Invalid input: expected an object",
		})
		.transform((input) => new Map(Object.entries(input).sort(byKey)))
		.pipe(z.map(z.string(), value));
}

/** Plain JSON of a value with Maps in it, keys sorted. */
function sorted(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sorted);
	if (typeof value !== "object" || value === null) return value;
	const entries = value instanceof Map ? [...value] : Object.entries(value);
	return Object.fromEntries(entries.sort(byKey).map(([key, item]) => [key, sorted(item)]));
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

function issues(error: z.ZodError): string[] {
	return error.issues.map((issue) => {
		const path = issue.path.map(String).join(".");
		return path ? `${path}: ${issue.message}` : issue.message;
	});
}
