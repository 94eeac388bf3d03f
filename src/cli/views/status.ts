/** The table of `gym status`, and the same as events. */
import type { RunRecord } from "../../../state/document.ts";
import { meanReward } from "../../chain/progress.ts";
import { elapsedOf } from "../../plan/estimate.ts";
import type { Unstamped } from "./events.ts";
import { columns, printable, table, WIDTH } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { durationText, NOTHING, rewardText, rolloutsText } from "./words.ts";

export interface StatusScreen {
	readonly rows: readonly { readonly stack: string; readonly benchmark: string; readonly run: RunRecord }[];
	/** When the cluster was looked at, its clock, epoch seconds; null when it was not. */
	readonly asOf: number | null;
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
	const [heading = "", ...lines] = table([
		HEADING,
		...screen.rows.map(({ stack, benchmark, run }) => cells(stack, benchmark, run)),
	]).map(cut);
	const foot =
		screen.asOf === null
			? "the cluster was not asked: this is what the state says"
			: `as of ${options.clock(screen.asOf)} · accounting lags, queue is current`;
	return `${[options.paint.strong(heading), ...lines, options.paint.faint(foot)].join("\n")}\n`;
}

function cells(stack: string, benchmark: string, run: RunRecord): readonly string[] {
	const elapsed = elapsedOf(run);
	return [
		printable(stack),
		printable(benchmark),
		run.status,
		run.segments.length > 0 ? String(run.segments.length) : NOTHING,
		rolloutsText(run.progress),
		rewardText(run),
		elapsed === null ? NOTHING : durationText(elapsed),
		printable(run.segments.at(-1)?.jobId ?? NOTHING),
		printable((run.note ?? "").split("\n")[0]!),
	];
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
			segments: run.segments.length,
			job_id: run.segments.at(-1)?.jobId ?? null,
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
