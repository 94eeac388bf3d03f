/**
 * Carries a plan out under the lock: cancels, writes the intent, submits, records.
 *
 * Every crash point is survivable: before the intent nothing was asked of the cluster; after it the run directory
 * is known, and asking for it again finds what exists.
 */
import type { RunRecord, StateDocument } from "../../state/document.ts";
import type { Holder, Lease } from "../../state/store.ts";
import type { JobOutcome, Scheduler, SubmitOutcome } from "../cluster/scheduler.ts";
import { fail, GymError } from "../errors.ts";
import type { Io, Stack } from "../io.ts";
import type { DesiredJob, PreparedPlan } from "../plan/desired.ts";
import { type ActionKind, type GoOn, type PlannedAction, QUEUEING } from "../plan/plan.ts";
import { backToReplaced, cancelled, endReplaced, submitted, withCurrent } from "./record.ts";
import { type HostEnv, intentOf, liveDirs, newRunId, submissionOf } from "./submission.ts";
import { type Updated, updateRuns } from "./update.ts";

/** What apply tells while it works. */
export interface ApplyEvents {
	/** An expired lock of somebody else was taken over. */
	tookOver(holder: Holder): void;
	/** A job was accepted or refused. */
	outcome(address: string, outcome: JobOutcome): void;
	/** A run that was found on the cluster is the address's current one now. */
	adopted(address: string, run: RunRecord): void;
	/** A live run took up what changed, or could not. */
	updated(outcome: Updated): void;
	/** Jobs of an address were cancelled; `left` when some were still listed when we gave up. */
	cancelled(address: string, jobIds: readonly string[], left: boolean): void;
}

/** What was done. */
export interface ApplyResult {
	readonly submitted: number;
	readonly refused: number;
	readonly cancelled: number;
	readonly adopted: number;
	readonly runDirs: readonly string[];
	readonly serial: number;
}

export interface ApplyContext {
	readonly io: Io;
	readonly lease: Lease;
	readonly forward: ReadonlyMap<string, string>;
	readonly events: ApplyEvents;
}

/** Ctrl-C: nothing new is begun; what was done is recorded already. @throws GymError exit `interrupted` */
export function checkInterrupt(io: Io): void {
	if (io.signal.aborted) {
		throw fail(
			"interrupted",
			"interrupted",
			"stopped; what was done so far is recorded",
			"run apply again to go on",
		);
	}
}

/** Actions that change something. */
export const ACTING: ReadonlySet<ActionKind> = new Set([...QUEUEING, "update", "cancel", "adopt"]);

/** The state with the runs that were found: those that actions are about are current, others go into the history. */
function takeIn(plan: PreparedPlan, state: StateDocument): StateDocument {
	let now = state;
	for (const { benchmark, run } of plan.actions) {
		const found = plan.found.get(benchmark);
		if (!found) continue;
		const { current, history } = now.benchmarks.get(benchmark) ?? { current: null, history: [] };
		const record = { current, history: [...found.history, ...history] };
		now = { ...now, benchmarks: new Map([...now.benchmarks, [benchmark, record]]) };
		if (found.current !== null && found.current === run) now = withCurrent(now, benchmark, run);
	}
	return now;
}

/** Its run is taken in, but held: the exchange that was to release it never came to its end. */
function isHeldAdoption({ kind, reason }: PlannedAction): boolean {
	return kind === "adopt" && reason === "unfinished-submission";
}

/** Carries out `plan`, starting from `state` (already refreshed). */
export async function applyActions(
	stack: Stack,
	plan: PreparedPlan,
	state: StateDocument,
	context: ApplyContext,
): Promise<ApplyResult> {
	const { io, lease, events } = context;
	const work = plan.actions.filter(({ kind }) => ACTING.has(kind));
	let now = state;
	if (work.length === 0) {
		// What the refresh saw is worth keeping, but only where there is a state to keep it in.
		if (plan.changed) now = await lease.write(now, "refresh");
		return { submitted: 0, refused: 0, cancelled: 0, adopted: 0, runDirs: [], serial: now.serial };
	}
	const adopted = work.filter((action) => action.kind === "adopt");
	now = takeIn(plan, now);
	if (adopted.length > 0) now = await lease.write(now, "adopted");
	for (const action of adopted) {
		if (!isHeldAdoption(action)) events.adopted(action.address, action.run!);
	}
	const scheduler = io.scheduler(state.cluster!);
	const total = { submitted: 0, refused: 0 };
	const toCancel = work.filter((action) => action.kind === "cancel");
	if (toCancel.length > 0) {
		checkInterrupt(io);
		now = await cancelRemoved(toCancel, now, scheduler, context);
	}
	const toUpdate = work.filter((action) => action.kind === "update");
	if (toUpdate.length > 0) {
		checkInterrupt(io);
		const updated = await updateRuns(toUpdate, plan.jobs, now, scheduler, io.version);
		now = await lease.write(updated.state, "updated");
		for (const outcome of updated.outcomes) events.updated(outcome);
		total.refused += updated.outcomes.filter(({ error }) => error !== null).length;
	}
	const goOn = new Map(
		work.flatMap((action) => (action.goOn ? [[action.benchmark, action.goOn] as const] : [])),
	);
	const groups = groupByRunDir(work, plan, now, context);
	if (groups.size > 0) {
		checkInterrupt(io);
		for (const [runDir, jobs] of groups) {
			for (const job of jobs) now = withCurrent(now, job.benchmark, intent(now, job, runDir, goOn));
		}
		now = await lease.write(now, "intent");
	}
	const released = new Set(adopted.filter(isHeldAdoption).map(({ benchmark }) => benchmark));
	for (const [runDir, jobs] of groups) {
		checkInterrupt(io);
		const outcome = await submit(stack, now, jobs, runDir, scheduler, { ...context, released, goOn });
		now = outcome.state;
		total.submitted += outcome.submitted;
		total.refused += outcome.refused;
	}
	return {
		...total,
		cancelled: toCancel.length,
		adopted: adopted.length,
		runDirs: [...groups.keys()],
		serial: now.serial,
	};
}

async function cancelRemoved(
	actions: readonly PlannedAction[],
	state: StateDocument,
	scheduler: Scheduler,
	context: ApplyContext,
): Promise<StateDocument> {
	// A replacement that was cut short leaves an earlier run live: it is cancelled too.
	const dirsOf = ({ benchmark, run }: PlannedAction) => [
		run!.jobDir,
		...liveDirs(state.benchmarks.get(benchmark)!.history),
	];
	const outcome = await scheduler.cancel(actions.flatMap(dirsOf));
	let now = state;
	for (const action of actions) {
		const { address, benchmark, run } = action;
		const ids = dirsOf(action).flatMap((dir) => outcome.cancelled.get(dir) ?? []);
		const left = dirsOf(action).some((dir) => outcome.left.includes(dir));
		context.events.cancelled(address, ids, left);
		if (left) continue; // still ending: the next plan says so
		now = withCurrent(now, benchmark, cancelled(run!, ids, outcome.at));
		now = endReplaced(withCurrent(now, benchmark, null), benchmark, outcome.at);
	}
	return context.lease.write(now, "cancelled");
}

/** Jobs by the run directory that they go to: one new directory for all, and those of submissions that were cut short. */
function groupByRunDir(
	work: readonly PlannedAction[],
	plan: PreparedPlan,
	state: StateDocument,
	{ io }: ApplyContext,
): ReadonlyMap<string, readonly DesiredJob[]> {
	const groups = new Map<string, DesiredJob[]>();
	const fresh = `${state.cluster!.outputPath.replace(/\/+$/, "")}/${newRunId(io.now(), io.randomHex(3))}`;
	for (const action of work) {
		if (!QUEUEING.has(action.kind) && !isHeldAdoption(action)) continue;
		const hadJob = action.run !== null && action.run.segments.length > 0;
		const goesOn = (action.kind === "resume" && hadJob) || action.reason === "unfinished-submission";
		const runDir = goesOn ? action.run!.runDir : fresh;
		groups.set(runDir, [...(groups.get(runDir) ?? []), plan.jobs.get(action.benchmark)!]);
	}
	return groups;
}

function intent(
	state: StateDocument,
	job: DesiredJob,
	runDir: string,
	goOn: ReadonlyMap<string, GoOn>,
): RunRecord {
	const fresh = intentOf(job, runDir);
	const current = state.benchmarks.get(job.benchmark)?.current;
	if (current?.runDir !== runDir) return fresh;
	const { segments, submittedBy } = current;
	const chain = goOn.get(job.benchmark)?.resetCounters ? fresh.chain : (current.chain ?? fresh.chain);
	return { ...fresh, segments, submittedBy, chain };
}

/** What the benchmarks of an apply have of their own. */
interface Batch {
	/** Those whose held job is only released. */
	readonly released: ReadonlySet<string>;
	/** How runs are gone on with in their directory. */
	readonly goOn: ReadonlyMap<string, GoOn>;
}

async function submit(
	stack: Stack,
	state: StateDocument,
	jobs: readonly DesiredJob[],
	runDir: string,
	scheduler: Scheduler,
	{ io, lease, forward, events, released, goOn }: ApplyContext & Batch,
): Promise<{ state: StateDocument; submitted: number; refused: number }> {
	const hostEnv: HostEnv = io.hostEnv;
	const request = submissionOf(stack.config, state, jobs, runDir, {
		toolVersion: io.version,
		hostEnv,
		forward,
		goOn,
	});
	let outcome: SubmitOutcome;
	try {
		outcome = await scheduler.submit(request);
	} catch (error) {
		// The cluster said no before anything was queued: there is no run, only a refusal to remember.
		if (GymError.is(error) && error.exit === "refused") {
			await lease.write(withRefusal(state, jobs, error.problems[0]!.message), "refused");
		}
		throw error;
	}
	let now = state;
	const count = { submitted: 0, refused: 0 };
	for (const job of jobs) {
		const result = outcome.jobs.find((one) => one.benchmark === job.benchmark);
		if (!result) continue;
		const run = now.benchmarks.get(job.benchmark)!.current!;
		const back = result.jobId === null ? backToReplaced(now, job.benchmark) : null;
		now = back ?? withCurrent(now, job.benchmark, submitted(run, result, outcome.user));
		if (result.jobId !== null) now = endReplaced(now, job.benchmark, outcome.at);
		const address = `${stack.name}/${job.benchmark}`;
		if (result.jobId !== null && released.has(job.benchmark)) {
			events.adopted(address, now.benchmarks.get(job.benchmark)!.current!);
			continue;
		}
		count[result.jobId === null ? "refused" : "submitted"]++;
		events.outcome(address, result);
	}
	return { state: await lease.write(now, "submitted"), ...count };
}

function withRefusal(state: StateDocument, jobs: readonly DesiredJob[], message: string): StateDocument {
	return jobs.reduce((now, job) => {
		const run = now.benchmarks.get(job.benchmark)!.current!;
		const back = backToReplaced(now, job.benchmark);
		return back ?? withCurrent(now, job.benchmark, { ...run, status: "refused", error: message });
	}, state);
}
