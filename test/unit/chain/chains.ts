/** Looks at the runs of a chain, for tests: what Slurm and the files of its directory say. */
import { refreshState } from "../../../src/chain/refresh.ts";
import type { AccountingRow, QueueRow } from "../../../src/cluster/jobs.ts";
import type { Observation, RunFiles } from "../../../src/cluster/scheduler.ts";
import type { RunRecord, StateDocument } from "../../../state/document.ts";
import { makeDesired, makeRun, makeSegment, makeState } from "../plan/runs.ts";

/** A resumable benchmark with three retries and no cap. */
export const LIMITS = { maxRetries: 3, maxWalltime: null, noProgress: 3 };
export const desired = makeDesired("b", { limits: LIMITS });

/** A submitted chain: of its jobs the state knows the first. */
export const submitted = makeRun(desired, {
	status: "pending",
	segments: [makeSegment("1", { state: "PENDING" })],
});

/** What is there of a run; the budget's three retries unless told otherwise. */
export interface Scene {
	/** Job id → state, or state and reason: `PENDING Dependency`. Null: the queue does not answer. */
	readonly queue?: Readonly<Record<string, string>> | null;
	/** Job id → state. Null: no accounting. */
	readonly accounting?: Readonly<Record<string, string>> | null;
	/** Job id → `EXIT WHY`, e.g. `85 timeout`. */
	readonly ends?: Readonly<Record<string, string>>;
	/** Lines of the journal as they are. */
	readonly journal?: readonly string[];
	/** Files of the chain beside or instead of the budget; null: none, nor a budget. */
	readonly counters?: Readonly<Record<string, string>> | null;
	readonly control?: string;
	readonly exists?: boolean;
}

/** A line of the journal. */
export const line = (job: number, event: string, more: object = {}) =>
	JSON.stringify({ job, at: 100 * job, event, ...more });

/** The lines of a segment that followed another and queued a successor. */
export function followed(job: number, decision: string, more: object = {}): readonly string[] {
	const previous = {
		previous: String(job - 1),
		state: "TIMEOUT",
		elapsed: 60,
		retries: 0,
		decision,
		...more,
	};
	return [line(job, "start"), line(job, "previous", previous), line(job, "next", { next: String(job + 1) })];
}

/** The lines of a chain's first segment. */
export const began = [line(1, "start"), line(1, "next", { next: "2" }), line(1, "run")];

function queueRow(run: RunRecord, jobId: string, word: string): QueueRow {
	const [state = "", reason = null] = word.split(" ");
	const startsAt = state === "PENDING" ? null : 100;
	const times = { submittedAt: 1, startsAt, elapsed: 5, nodes: 1, nodeList: "n1" };
	return { jobId, state, reason, ...times, user: "alice", workDir: run.jobDir };
}

function accountingRow(run: RunRecord, jobId: string, word: string): AccountingRow {
	const [state = "", never] = word.split(" ");
	const startedAt = never ? null : 100;
	const how = { cancelledBy: null, exitCode: 0, signal: null, elapsed: 60, endedAt: 160 };
	const place = { cluster: "lab", nodeList: null, user: "alice", workDir: run.jobDir };
	return { jobId, state, ...how, submittedAt: 1, startedAt, ...place };
}

function filesOf(scene: Scene): RunFiles {
	const ends = Object.entries(scene.ends ?? {}).map(([id, text]): [string, string] => {
		const [exit, why] = text.split(" ");
		return [id, `exit=${exit} why=${why} at=${100 * Number(id) + 60} elapsed=60 name=\n`];
	});
	const budget = '{"max_retries":3,"max_walltime":null,"no_progress":3}\n';
	return {
		exists: scene.exists ?? true,
		ends: new Map(ends),
		chain: scene.journal ? `${scene.journal.join("\n")}\n` : null,
		control: scene.control ?? "",
		chainFiles: new Map(
			scene.counters === null ? [] : Object.entries({ "budget.json": budget, ...scene.counters }),
		),
		recordedIds: ["1"],
		expected: null,
		rollouts: null,
		rolloutsCut: false,
	};
}

/** The run after a look. */
export function look(scene: Scene, run: RunRecord = submitted): RunRecord {
	const state: StateDocument = makeState({ b: run });
	const rows = <Row>(
		words: Readonly<Record<string, string>> | null | undefined,
		row: typeof queueRow | typeof accountingRow,
	) => (words === null ? null : Object.entries(words ?? {}).map(([id, word]) => row(run, id, word) as Row));
	const observation: Observation = {
		at: 1000,
		user: "alice",
		queue: rows<QueueRow>(scene.queue, queueRow),
		accounting: rows<AccountingRow>(scene.accounting, accountingRow),
		preflight: null,
		runs: new Map([[run.jobDir, filesOf(scene)]]),
	};
	return refreshState(state, observation).state.benchmarks.get("b")!.current!;
}
