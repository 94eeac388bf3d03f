/** What `gym apply` says beyond the plan: the question, what became of each job, the end. */
import type { RunRecord } from "../../../state/document.ts";
import type { Updated } from "../../apply/update.ts";
import type { JobOutcome } from "../../cluster/scheduler.ts";
import { estimate } from "../../plan/estimate.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Unstamped } from "./events.ts";
import { columns, joinParts, NAME_MOST, pad, printable, printableLines, wrapBeside } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { plural } from "./words.ts";

/** What became of one address. */
export interface ApplyOutcome {
	readonly address: string;
	/** `left`: it was to be cancelled, and was still listed when we gave up. */
	readonly outcome: "submitted" | "refused" | "updated" | "cancelled" | "left" | "adopted";
	readonly jobIds: readonly string[];
	/** Slurm's state and reason right after. */
	readonly state: string | null;
	readonly reason: string | null;
	/** Epoch seconds, the cluster's clock. */
	readonly estimatedStart: number | null;
	/** The scheduler's own words when it refused. */
	readonly error: string | null;
}

export interface ApplySummary {
	readonly stack: string;
	readonly outcomes: readonly ApplyOutcome[];
	/** Run directories of what was submitted. */
	readonly runDirs: readonly string[];
	/** Serial of the state after it. */
	readonly serial: number;
	/** Seconds. */
	readonly elapsed: number;
}

/** An outcome from what the scheduler answered about one job. */
export function submitOutcome(address: string, answer: JobOutcome): ApplyOutcome {
	const { jobId, state, reason, estimatedStart, error } = answer;
	const outcome = jobId === null ? "refused" : "submitted";
	return { address, outcome, jobIds: jobId === null ? [] : [jobId], state, reason, estimatedStart, error };
}

/** An outcome from a run that was taken in. */
export function adoptOutcome(address: string, run: RunRecord): ApplyOutcome {
	const jobIds = run.segments.map((segment) => segment.jobId);
	const none = { reason: null, estimatedStart: null, error: null };
	return { address, outcome: "adopted", jobIds, state: run.status, ...none };
}

/** An outcome from what a live run took up, or could not. */
export function updateOutcome({ address, jobIds, error }: Updated): ApplyOutcome {
	const outcome = error === null ? "updated" : "refused";
	return { address, outcome, jobIds, state: null, reason: null, estimatedStart: null, error };
}

/** An outcome from what a cancel did; `left` when jobs were still listed at its end. */
export function cancelOutcome(address: string, jobIds: readonly string[], left: boolean): ApplyOutcome {
	const outcome = left ? "left" : "cancelled";
	return { address, outcome, jobIds, state: null, reason: null, estimatedStart: null, error: null };
}

/** Who submits, for the question: `lab`, `alice`, `lab-07`. */
export interface ApplyTarget {
	readonly cluster: string;
	readonly user: string | null;
	readonly account: string | null;
}

/** The question before anything is done. Only the word "yes" goes on. */
export function questionText(plan: Plan, target: ApplyTarget): string {
	const cost = estimate(plan.actions, plan.state);
	const cancels = plan.actions.filter((action) => action.kind === "cancel" && !action.refused).length;
	const adopts = plan.actions.filter((action) => action.kind === "adopt" && !action.refused).length;
	const updates = plan.actions.filter((action) => action.kind === "update" && !action.refused).length;
	const deeds = [
		...(adopts > 0 ? [`adopt ${plural(adopts, "run")}`] : []),
		...(updates > 0 ? [`update ${plural(updates, "run")} in place`] : []),
		...(cost.jobs > 0 ? [`submit ${plural(cost.jobs, "job")}`] : []),
		...(cancels > 0 ? [`cancel ${plural(cancels, "run")}`] : []),
	].join(" and ");
	const where = [
		`${cancels > 0 ? "on" : "to"} ${target.cluster}${target.user ? ` as ${target.user}` : ""}`,
		...(target.account ? [`account ${target.account}`] : []),
		...(cost.jobs > cost.uncounted
			? [cost.atMost === null ? "GPU-hours without bound" : `at most ${cost.atMost.toFixed(1)} GPU-hours`]
			: []),
	].join(", ");
	return printable(`${deeds.charAt(0).toUpperCase()}${deeds.slice(1)} ${where}?  Only "yes" is accepted: `);
}

/** Least columns of an address. */
const ADDRESS_COLUMNS = 12;

/** One line for each outcome, in line with those of all `addresses`. */
export function outcomesText(
	outcomes: readonly ApplyOutcome[],
	addresses: readonly string[],
	options: { readonly paint: Paint; readonly clock: (epochSeconds: number) => string },
): string {
	const all = [...addresses, ...outcomes.map(({ address }) => address)].map((one) => columns(printable(one)));
	const width = Math.max(ADDRESS_COLUMNS, ...all.filter((one) => one <= NAME_MOST));
	const lines = outcomes.flatMap((outcome) => {
		const said = saidOf(outcome, options.clock);
		const mark =
			outcome.outcome === "refused" || outcome.outcome === "left" ? options.paint.error : options.paint.add;
		const address = printable(outcome.address);
		const isLong = columns(address) > width;
		const [first = "", ...rest] = said;
		return [
			...(isLong ? [`  ${address}`] : []),
			`  ${pad(isLong ? "" : address, width)}   ${mark(outcome.outcome)}${" ".repeat(12 - outcome.outcome.length)}${first}`.trimEnd(),
			...rest.map((line) => `  ${" ".repeat(width)}   ${" ".repeat(12)}${line}`),
		];
	});
	return lines.map((line) => `${line}\n`).join("");
}

function saidOf(outcome: ApplyOutcome, clock: (epochSeconds: number) => string): readonly string[] {
	if (outcome.error !== null) return printableLines(outcome.error);
	const jobs = outcome.jobIds.length > 0 ? [`job ${printable(outcome.jobIds.join(", "))}`] : [];
	if (outcome.outcome === "cancelled" && jobs.length === 0) return ["no job was queued or running"];
	if (outcome.outcome === "left") {
		return [[...jobs, `still listed: run gym cancel ${printable(outcome.address)}`].join("   ")];
	}
	const reason = outcome.reason ? ` (${printable(outcome.reason)})` : "";
	const start = outcome.estimatedStart === null ? "" : `, estimated ${clock(outcome.estimatedStart)}`;
	const state = outcome.state ? [`${printable(outcome.state.toLowerCase())}${reason}${start}`] : [];
	return [[...jobs, ...state].join("   ")];
}

/** The last lines of an apply. */
export function summaryText(summary: ApplySummary): string {
	const failed = summary.outcomes.filter(({ outcome }) => outcome === "refused" || outcome === "left");
	const counts = countOutcomes(summary.outcomes);
	const done = (["submitted", "updated", "adopted", "cancelled", "refused", "left"] as const)
		.filter((word) => counts[word] > 0)
		.map((word) => `${counts[word]} ${word}`)
		.join(", ");
	const runDirs = summary.runDirs
		.map((runDir) => `${joinParts(["Run directory:", printable(runDir)], "  ", " ").join("\n")}\n`)
		.join("");
	if (failed.length > 0) {
		const names = failed.map((outcome) => printable(outcome.address)).join(", ");
		const said = `${done}. Nothing is lost: the next plan shows only ${names}.`;
		return `${runDirs}${wrapBeside(said, "  ", "exit 1").join("\n")}\n`;
	}
	const end = `${done || "Nothing to do"} in ${summary.elapsed.toFixed(1)} s. State serial ${summary.serial}.`;
	const follow = counts.submitted > 0 ? [`Follow: gym status ${printable(summary.stack)}`] : [];
	return `${runDirs}${joinParts([end, ...follow], "  ", " ").join("\n")}\n`;
}

/** One outcome as an event. */
export function outcomeEvent(outcome: ApplyOutcome): Unstamped {
	return {
		type: "apply_outcome",
		addr: outcome.address,
		outcome: outcome.outcome,
		job_ids: [...outcome.jobIds],
		state: outcome.state,
		reason: outcome.reason,
		estimated_start: outcome.estimatedStart,
		error: outcome.error,
	};
}

/** The end as an event. */
export function summaryEvent(summary: ApplySummary): Unstamped {
	const { stack, runDirs, serial, elapsed } = summary;
	return {
		type: "apply_complete",
		stack,
		run_dirs: [...runDirs],
		serial,
		elapsed,
		...countOutcomes(summary.outcomes),
	};
}

function countOutcomes(outcomes: readonly ApplyOutcome[]) {
	const of = (word: ApplyOutcome["outcome"]) => outcomes.filter(({ outcome }) => outcome === word).length;
	return {
		adopted: of("adopted"),
		submitted: of("submitted"),
		updated: of("updated"),
		refused: of("refused"),
		cancelled: of("cancelled"),
		left: of("left"),
	};
}
