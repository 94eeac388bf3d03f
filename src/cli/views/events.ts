/**
 * The events of `-json`: one JSON object a line, the first one `version`. The format number's first part rises
 * when a reader of the old format could break, the second when something is added.
 */
import * as z from "zod";

/** Version of this format. */
export const EVENT_FORMAT = "1.1";

const ts = z.iso.datetime().describe("When the event was written, UTC, this machine's clock");
const addr = z.string().describe("<stack>/<benchmark>");
const seconds = z.number().nullable();

const problem = z.object({
	severity: z.enum(["error", "warning", "note"]),
	code: z.string().describe("Stable code; docs/errors.md explains it"),
	at: z.string().describe("Path in the submit document; empty when it is not about the document"),
	message: z.string(),
	remedy: z.string().optional(),
	file: z.string().optional(),
	line: z.number().int().optional(),
	column: z.number().int().optional(),
	construct: z.string().optional(),
});

const version = z.object({ type: z.literal("version"), format: z.string(), gymfile: z.string() });

const diagnostic = problem.extend({ type: z.literal("diagnostic"), ts });

const document = z.object({
	type: z.literal("document"),
	ts,
	stack: z.string(),
	yaml: z.string().describe("The submit document as text"),
	document: z.json().describe("The same as data"),
	file: z.string().nullable().describe("Where it was written to; null when nowhere"),
});

const drift = z.object({
	type: z.literal("drift"),
	ts,
	addr,
	from: z.string(),
	to: z.string(),
	message: z.string(),
});

const plannedChange = z.object({
	type: z.literal("planned_change"),
	ts,
	addr,
	action: z.enum(["submit", "adopt", "resubmit", "update", "resume", "cancel", "decide", "none"]),
	reason: z.string(),
	changes: z.array(
		z.object({
			path: z.array(z.union([z.string(), z.number()])),
			before: z.json().optional().describe("Absent where the path did not exist"),
			after: z.json().optional().describe("Absent where the path no longer exists"),
			class: z.enum(["results", "speed", "cosmetic"]),
			order: z.literal(true).optional(),
		}),
	),
	files: z.array(z.object({ file: z.string(), lines: z.array(z.string()) })),
	job: z
		.object({
			nodes: z.number(),
			gpus_per_node: z.number().nullable(),
			walltime: seconds,
			partition: z.string().nullable(),
		})
		.nullable(),
	run: z
		.object({
			run_dir: z.string(),
			status: z.string(),
			job_ids: z.array(z.string()),
			note: z.string().nullable(),
		})
		.nullable(),
	cache_valid: z.boolean().nullable(),
	script_note: z.boolean(),
	refused: problem.optional(),
});

const changeSummary = z.object({
	type: z.literal("change_summary"),
	ts,
	stack: z.string(),
	lineage: z.string().nullable(),
	serial: z.number(),
	submit: z.number(),
	adopt: z.number(),
	resubmit: z.number(),
	update: z.number(),
	resume: z.number(),
	cancel: z.number(),
	decide: z.number(),
	refused: z.number(),
	unchanged: z.number(),
	left_out: z.number().describe("Addresses that -target and -exclude left out"),
	jobs: z.number(),
	nodes: z.number(),
	gpu_hours_at_most: z.number().nullable().describe("Null is unbounded"),
	gpu_hours_expected: z.number().nullable(),
	jobs_without_gpus: z.number().describe("Jobs whose GPUs are not known: not in the GPU-hours"),
});

const applyStart = z.object({
	type: z.literal("apply_start"),
	ts,
	stack: z.string(),
	submit: z.number(),
	cancel: z.number(),
});

const applyOutcome = z.object({
	type: z.literal("apply_outcome"),
	ts,
	addr,
	outcome: z.enum(["submitted", "updated", "adopted", "refused", "cancelled", "left"]),
	job_ids: z.array(z.string()),
	state: z.string().nullable(),
	reason: z.string().nullable(),
	estimated_start: z.number().nullable().describe("Epoch seconds of the cluster"),
	error: z.string().nullable(),
});

const applyComplete = z.object({
	type: z.literal("apply_complete"),
	ts,
	stack: z.string(),
	run_dirs: z.array(z.string()),
	serial: z.number(),
	adopted: z.number(),
	submitted: z.number(),
	updated: z.number(),
	refused: z.number(),
	cancelled: z.number(),
	left: z.number(),
	elapsed: z.number(),
});

const status = z.object({
	type: z.literal("status"),
	ts,
	addr,
	status: z.string(),
	note: z.string().nullable(),
	segments: z.number(),
	segments_at_most: z.number().nullable().describe("Null without a bound; preempted jobs come on top"),
	job_id: z.string().nullable(),
	elapsed: seconds,
	rollouts_done: z.number().nullable(),
	rollouts_expected: z.number().nullable(),
	reward_mean: z.number().nullable(),
	reward_error: z.number().nullable().describe("Standard error of the mean"),
	run_dir: z.string(),
	as_of: z.number().nullable().describe("Epoch seconds of the cluster"),
});

const why = z.object({
	type: z.literal("why"),
	ts,
	addr,
	status: z.string(),
	note: z.string().nullable(),
	next: z.string().describe("What happens by itself, or what a person can do"),
	elapsed: seconds,
	segments: z.array(
		z.object({
			job_id: z.string(),
			state: z.string().nullable().describe("The scheduler's word"),
			exit_code: z.number().nullable(),
			reason: z.string().nullable().describe("Its own word for its end, else the scheduler's reason"),
			submitted_at: z.number().nullable(),
			started_at: z.number().nullable(),
			ended_at: z.number().nullable(),
			elapsed: seconds,
			nodes: z.string().nullable(),
			decision: z.string().nullable().describe("What the next job decided: resume, or why the chain ended"),
			retries: z.number().nullable().describe("Retries spent by then"),
		}),
	),
	retries: z.number().nullable().describe("Spent so far; null when it is not resumable"),
	max_retries: z.number().nullable(),
	walltime: seconds.describe("Seconds of all segments before the running one"),
	max_walltime: seconds.describe("Null is no cap"),
	idle: z.number().nullable().describe("Time limits in a row without progress"),
	no_progress: z.number().nullable(),
	run_dir: z.string(),
	as_of: z.number().nullable().describe("Epoch seconds of the cluster"),
});

const waiting = z.object({
	type: z.literal("waiting"),
	ts,
	addr,
	from: z.string().nullable().describe("Null for the first look"),
	to: z.string(),
	job_id: z.string().nullable(),
	note: z.string().nullable(),
	due: z.boolean().describe("It stopped short, and the next apply goes on with it"),
});

const log = z.object({
	type: z.literal("log"),
	ts,
	addr,
	source: z.string().describe("`driver`, or the name of a service"),
	line: z.string(),
});

const failed = z.object({
	type: z.literal("failed"),
	ts,
	exit: z.string(),
	exit_code: z.number(),
	errors: z.number(),
});

/** Schema of every line of `-json`. */
export const eventSchema = z.discriminatedUnion("type", [
	version,
	diagnostic,
	document,
	drift,
	plannedChange,
	changeSummary,
	applyStart,
	applyOutcome,
	applyComplete,
	status,
	why,
	waiting,
	log,
	failed,
]);

/** One line of `-json`. */
export type Event = z.infer<typeof eventSchema>;

type Stamped = Exclude<Event, { type: "version" }>;

/** Any event but the first, before the view stamps it with the time. */
export type Unstamped = Stamped extends infer E ? (E extends Stamped ? Omit<E, "ts"> : never) : never;
