/** Lets live runs take up what changed, without a new submission. */
import type { RunRecord, StateDocument } from "../../state/document.ts";
import type { JobUpdate, Scheduler, StagedFile } from "../cluster/scheduler.ts";
import { renderJob } from "../job/render.ts";
import { isQueuedEdit } from "../plan/change-class.ts";
import type { DesiredJob, PreparedPlan } from "../plan/desired.ts";
import type { PlannedAction } from "../plan/plan.ts";
import { withCurrent } from "./record.ts";
import { intentOf } from "./submission.ts";

/** What a live run reads again: its next segment, and each segment its limits. */
const READ_AGAIN = ["job.sh", "budget.json"];

/** What Slurm calls the directives that can be changed of a queued job. */
const QUEUED_NAMES: ReadonlyMap<string, string> = new Map([
	["time", "TimeLimit"],
	["comment", "Comment"],
]);

/** What became of one address. */
export interface Updated {
	readonly address: string;
	/** Pending jobs that were told. */
	readonly jobIds: readonly string[];
	/** Why it did not take up everything; null when it did. */
	readonly error: string | null;
}

/**
 * One exchange for all of them; a run that could not take up everything keeps its old job in the state.
 * @param toolVersion version named in the scripts
 */
export async function updateRuns(
	actions: readonly PlannedAction[],
	jobs: PreparedPlan["jobs"],
	state: StateDocument,
	scheduler: Scheduler,
	toolVersion: string,
): Promise<{ readonly state: StateDocument; readonly outcomes: readonly Updated[] }> {
	const wanted = actions.map((action) => {
		const desired = jobs.get(action.benchmark)!;
		return { action, desired, update: updateOf(action, desired, action.run!, toolVersion) };
	});
	const answers = await scheduler.update(wanted.map(({ update }) => update));
	let now = state;
	const outcomes: Updated[] = [];
	for (const { action, desired, update } of wanted) {
		const answer = answers.find(({ jobDir }) => jobDir === update.jobDir);
		const isTooLate =
			update.queued.size > 0 && desired.limits === null && answer?.jobIds.length === 0 && !answer.error;
		const error = isTooLate ? "its job has started meanwhile" : (answer?.error ?? null);
		if (error === null) now = withCurrent(now, action.benchmark, updated(action.run!, desired));
		outcomes.push({ address: action.address, jobIds: answer?.jobIds ?? [], error });
	}
	return { state: now, outcomes };
}

function updateOf(
	action: PlannedAction,
	desired: DesiredJob,
	run: RunRecord,
	toolVersion: string,
): JobUpdate {
	const job = run.segments.length > 1 ? desired.resumedJob : desired.job;
	const { files } = renderJob(job, { runDir: run.runDir, toolVersion });
	const isQueued = action.changes.some(({ path }) => isQueuedEdit(path));
	const queued = job.directives.flatMap(({ key, value }) => {
		const name = QUEUED_NAMES.get(key);
		return isQueued && name !== undefined && value !== null ? [[name, value] as const] : [];
	});
	return {
		jobDir: run.jobDir,
		files: new Map<string, StagedFile>([...files].filter(([name]) => READ_AGAIN.includes(name))),
		queued: new Map(queued),
	};
}

function updated(run: RunRecord, desired: DesiredJob): RunRecord {
	const { fingerprint, rendered, document } = intentOf(desired, run.runDir);
	return {
		...run,
		fingerprint,
		rendered,
		document,
		chain: run.chain && { ...run.chain, budget: desired.limits },
	};
}
