/** The screen of `gym why`: the story of one run, job by job, and what can be done next; and the same as an event. */
import type { ChainLimits, RunRecord, Segment } from "../../../state/document.ts";
import { isLive } from "../../../state/document.ts";
import { UNUSED } from "../../chain/counters.ts";
import { type Limit, resumption } from "../../chain/resume.ts";
import { currentSegment, hasWorked } from "../../chain/segments.ts";
import { elapsedOf } from "../../plan/estimate.ts";
import type { Unstamped } from "./events.ts";
import { joinParts, printable, table, wrap, wrapBeside } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { durationText, NOTHING, rolloutsText } from "./words.ts";

export interface WhyScreen {
	readonly address: string;
	readonly run: RunRecord;
	/** When the cluster was looked at, its clock, epoch seconds; null when it was not. */
	readonly asOf: number | null;
}

/** One line for each job that worked or waits. */
export function whyText({ address, run }: WhyScreen, options: { readonly paint: Paint }): string {
	const shown = shownSegments(run);
	const elapsed = elapsedOf(run);
	const rollouts = rolloutsText(run.progress);
	const totals = [
		...(elapsed === null ? [] : [durationText(elapsed)]),
		...(rollouts === NOTHING ? [] : [`${rollouts} rollouts`]),
	].join(", ");
	const head = `${printable(address)}  ${[run.status, run.note]
		.filter(Boolean)
		.map((part) => printable(part!))
		.join(": ")}`;
	const [first = "", ...more] = wrapBeside(head, "  ", totals);
	const rows = table(
		shown.map((segment, i) => [
			` ${i + 1}`,
			printable(segment.jobId),
			stateText(segment),
			segment.elapsed === null ? NOTHING : durationText(segment.elapsed),
			decisionText(run, shown, i),
			causeText(segment),
		]),
	);
	return [
		options.paint.strong(first),
		...more,
		...rows,
		...wrap(`Next: ${nextText(address, run)}`, "  "),
		...joinParts(["Run directory:", printable(run.jobDir)], "  ", " "),
	]
		.map((line) => `${line}\n`)
		.join("");
}

/** Jobs that did no work are not told; the one that waits is. */
function shownSegments(run: RunRecord): readonly Segment[] {
	const current = isLive(run.status) ? currentSegment(run.segments) : null;
	return run.segments.filter(
		(segment) =>
			hasWorked(segment) || segment === current || (isLive(run.status) && segment.endedAt === null),
	);
}

/** `TIMEOUT`, `FAILED 1`; what the job itself said of its end goes before the scheduler's word. */
function stateText({ state, reason, exitCode }: Segment): string {
	if (reason === "timeout") return "TIMEOUT";
	if (reason === "finished" && exitCode === 0) return "COMPLETED";
	const word = printable(state ?? "unknown");
	return word === "FAILED" && exitCode !== null ? `${word} ${exitCode}` : word;
}

function decisionText(run: RunRecord, shown: readonly Segment[], index: number): string {
	const { decision } = shown[index]!;
	if (decision === null) return "";
	const limits = run.chain?.budget ?? null;
	const before =
		shown.slice(0, index).findLast((segment) => segment.decision !== null)?.decision?.retries ?? 0;
	const most = limits === null ? "" : ` of ${limits.maxRetries}`;
	switch (decision.word) {
		case "resume":
			return decision.retries > before ? `retry ${decision.retries}${most}` : "resumed, no retry spent";
		case "retries":
			return "stopped: retries spent";
		case "cap":
			return "stopped: max_walltime used up";
		case "no-progress":
			return "stopped: no progress";
		case "over":
			return "ended the chain";
		default:
			return printable(decision.word);
	}
}

/** Why it failed, as far as its own record says, and where to read on. */
function causeText({ jobId, reason, exitCode }: Segment): string {
	switch (reason) {
		case "driver":
			return `driver exited ${exitCode ?? "?"} (logs/driver-${printable(jobId)}.log)`;
		case "service":
			return "a service died";
		case "unhealthy":
			return "a service did not get healthy";
		case null:
		case "timeout":
		case "finished":
		case "terminated":
			return "";
		default:
			return printable(reason);
	}
}

/** What happens by itself, or what a person can do. */
export function nextText(address: string, run: RunRecord): string {
	if (run.status === "succeeded") return "nothing, it is done.";
	if (isLive(run.status)) {
		const waiting = run.segments.filter(({ startedAt, endedAt }) => startedAt === null && endedAt === null);
		const current = currentSegment(run.segments);
		const successor = waiting.find((segment) => segment !== current);
		return successor
			? `job ${printable(successor.jobId)} is queued and goes on if this one stops short.`
			: "its job ends by itself; no further one is queued.";
	}
	const name = printable(address);
	const limits = run.chain?.budget ?? null;
	const found = resumption(run, limits);
	switch (found.kind) {
		case "goes-on":
			return `nothing is queued. gym apply goes on with it.`;
		case "spent":
			return `nothing is queued. gym resume ${name} --reset-counters, or ${raiseText(found.by, limits!, run)}.`;
		case "waits":
			return `nothing is queued. gym resume ${name}, or gym apply -replace=${name}.`;
	}
}

function raiseText(by: Limit, limits: ChainLimits, run: RunRecord): string {
	const used = run.chain ?? UNUSED;
	switch (by) {
		case "retries":
			return `raise resumable.max_retries (${limits.maxRetries}) in the gymfile`;
		case "cap":
			return `raise resumable.max_walltime (${durationText(used.walltime)} used) in the gymfile`;
		case "no-progress":
			return `raise lifecycle.noProgressLimit (${limits.noProgress}) in the gymfile`;
	}
}

/** The whole story as one event. */
export function whyEvent({ address, run, asOf }: WhyScreen): Unstamped {
	const { chain } = run;
	return {
		type: "why",
		addr: address,
		status: run.status,
		note: run.note,
		next: nextText(address, run),
		elapsed: elapsedOf(run),
		segments: run.segments.map((segment) => ({
			job_id: segment.jobId,
			state: segment.state,
			exit_code: segment.exitCode,
			reason: segment.reason,
			submitted_at: segment.submittedAt,
			started_at: segment.startedAt,
			ended_at: segment.endedAt,
			elapsed: segment.elapsed,
			nodes: segment.nodes,
			decision: segment.decision?.word ?? null,
			retries: segment.decision?.retries ?? null,
		})),
		retries: chain?.retries ?? null,
		max_retries: chain?.budget?.maxRetries ?? null,
		walltime: chain?.walltime ?? null,
		max_walltime: chain?.budget?.maxWalltime ?? null,
		idle: chain?.idle ?? null,
		no_progress: chain?.budget?.noProgress ?? null,
		run_dir: run.runDir,
		as_of: asOf,
	};
}
