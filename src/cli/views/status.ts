/** The table of `gym status`, and the same as events. */
import type { RunRecord } from "../../../state/document.ts";
import { meanReward } from "../../chain/progress.ts";
import { currentSegment, segmentBound, segmentCount } from "../../chain/segments.ts";
import { elapsedOf } from "../../plan/estimate.ts";
import type { Unstamped } from "./events.ts";
import { columns, printable, table, WIDTH } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { durationText, NOTHING, rewardText, rolloutsText } from "./words.ts";

export interface StatusScreen {
	readonly rows: readonly { readonly stack: string; readonly benchmark: string; readonly run: RunRecord }[];
	/** When the cluster was looked at, its clock, epoch seconds; null when it was not. */
	readonly asOf: number | null;
	/** Does what is said of a job's start and end come late, as it does from Slurm's accounting? */
	readonly lags: boolean;
}

const HEADING = [
	"STACK",
	"BENCHMARK",
	"STATUS",
	"SEGMENT",
	"ROLLOUTS",
	"REWARD",
	"ELAPSED",
	"JOB",
	"NOTE",
] as const;

/** One line for each benchmark. Notes are cut at the screen's width; `-json` has them whole. */
export function statusText(
	screen: StatusScreen,
	options: { readonly paint: Paint; readonly clock: (epochSeconds: number) => string },
): string {
	if (screen.rows.length === 0) return "Nothing was applied yet: gym plan shows what would be.\n";
	const rows = screen.rows.map(({ stack, benchmark, run }) => cells(stack, benchmark, run));
	const [heading = "", ...lines] = tableLines(rows);
	const foot =
		screen.asOf === null
			? "the cluster was not asked: this is what the state says"
			: `as of ${options.clock(screen.asOf)}${screen.lags ? " · accounting lags, queue is current" : ""}`;
	return `${[options.paint.strong(heading), ...lines, options.paint.faint(foot)].join("\n")}\n`;
}

/** Cells of a row that are the names: stack and benchmark. */
const NAMES = 2;
/** Columns for the names when the table is too wide for all of them. */
const NAME_COLUMNS = 24;

/**
 * The table. Where long names would push the rest over the edge, they stand on a line of their own, whole, and the
 * rest of their row below them.
 */
function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
	const withoutNote = table([HEADING, ...rows].map((row) => row.slice(0, -1)));
	if (Math.max(...withoutNote.map(columns)) <= WIDTH) return table([HEADING, ...rows]).map(cut);
	const isLong = (row: readonly string[]) => columns(row.slice(0, NAMES).join("  ")) > NAME_COLUMNS;
	const short = rows.map((row) => (isLong(row) ? [...Array(NAMES).fill(""), ...row.slice(NAMES)] : row));
	const [heading = "", ...lines] = table([HEADING, ...short]).map(cut);
	return [
		heading,
		...lines.flatMap((line, i) => (isLong(rows[i]!) ? [rows[i]!.slice(0, NAMES).join("  "), line] : [line])),
	];
}

function cells(stack: string, benchmark: string, run: RunRecord): readonly string[] {
	const elapsed = elapsedOf(run);
	return [
		printable(stack),
		printable(benchmark),
		run.status,
		segmentText(run),
		rolloutsText(run.progress),
		rewardText(run),
		elapsed === null ? NOTHING : durationText(elapsed),
		printable(currentSegment(run.segments)?.jobId ?? NOTHING),
		printable((run.note ?? "").split("\n")[0]!),
	];
}

/** `2 of ≤5`; more than the bound come of preemptions, then it says nothing. */
function segmentText(run: RunRecord): string {
	const count = segmentCount(run);
	if (count === 0) return NOTHING;
	const bound = segmentBound(run);
	return bound === null || count > bound ? String(count) : `${count} of ≤${bound}`;
}

function cut(line: string): string {
	return columns(line) <= WIDTH ? line : `${[...line].slice(0, WIDTH - 1).join("")}…`;
}

/** A `status` event for each benchmark. */
export function statusEvents(screen: StatusScreen): readonly Unstamped[] {
	return screen.rows.map(({ stack, benchmark, run }) => {
		const reward = run.progress && meanReward(run.progress);
		return {
			type: "status",
			addr: `${stack}/${benchmark}`,
			status: run.status,
			note: run.note,
			segments: segmentCount(run),
			segments_at_most: segmentBound(run),
			job_id: currentSegment(run.segments)?.jobId ?? null,
			elapsed: elapsedOf(run),
			rollouts_done: run.progress?.done ?? null,
			rollouts_expected: run.progress?.expected ?? null,
			reward_mean: reward?.mean ?? null,
			reward_error: reward?.error ?? null,
			run_dir: run.runDir,
			as_of: screen.asOf,
		};
	});
}
