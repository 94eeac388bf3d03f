/** The screen of `gym plan`, and the same as events. */

import type { Problem } from "../../errors.ts";
import { estimate } from "../../plan/estimate.ts";
import type { ActionKind, Desired, Plan, PlannedAction } from "../../plan/plan.ts";
import type { Unstamped } from "./events.ts";
import { plain } from "./json-value.ts";
import { columns, joinParts, NAME_MOST, pad, printable, wrap, wrapBeside } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { actionLines, SYMBOLS, VERBS } from "./plan-action.ts";
import type { ShowJob } from "./plan-changes.ts";
import { problemFields } from "./problems.ts";
import { place, plural, runText } from "./words.ts";

/** Unchanged benchmarks named before the rest is only counted. */
const NAMED_UNCHANGED = 8;

/** The whole plan of one stack. */
export function planText(plan: Plan, options: { readonly showJob: ShowJob; readonly paint: Paint }): string {
	const { paint } = options;
	const acting = plan.actions.filter((action) => action.kind !== "none");
	const unchanged = plan.actions.filter((action) => action.kind === "none");
	const blocks = [
		headerLines(plan, paint),
		driftLines(plan, paint),
		acting.length > 0 ? [legendLine(acting)] : [],
		...acting.map((action) => actionLines(action, options)),
		acting.length > 0 ? unchangedLines(unchanged) : noChangesLines(plan, unchanged),
		scriptNoteLines(plan.actions),
		[
			...(acting.length > 0 ? footerLines(plan) : []),
			...plan.problems.filter((p) => p.severity !== "error").flatMap((p) => problemLines(p, paint)),
		],
	];
	return `${blocks
		.filter((lines) => lines.length > 0)
		.map((lines) => lines.join("\n"))
		.join("\n\n")}\n`;
}

function headerLines(plan: Plan, paint: Paint): readonly string[] {
	const parts = [
		"gym plan",
		`stack ${plan.stack}`,
		...(plan.cluster === null ? [] : [`cluster ${plan.cluster}`]),
		plan.state === null ? `state ${plan.backend} (none yet)` : `state ${plan.backend} serial ${plan.serial}`,
		...(plan.refreshed ? [] : ["not refreshed"]),
	];
	const [first = "", ...rest] = joinParts(parts.map(printable), "  ");
	return [first.replace("gym plan", paint.strong), ...rest];
}

function driftLines(plan: Plan, paint: Paint): readonly string[] {
	if (plan.drift.length === 0) return [];
	const widths = plan.drift.map(({ address }) => columns(printable(address)));
	const width = Math.max(13, ...widths.filter((one) => one <= NAME_MOST));
	const lines = plan.drift.flatMap((drift) => {
		const address = printable(drift.address);
		const isLong = columns(address) > width;
		const line = `  ${pad(isLong ? "" : address, width)}  ${printable(drift.message)}`;
		return [...(isLong ? [`  ${address}`] : []), ...wrap(line, " ".repeat(width + 4))];
	});
	return [paint.strong("Drift since the last apply"), ...lines];
}

function legendLine(actions: readonly PlannedAction[]): string {
	const used = new Set(actions.map((action) => action.kind));
	const entries = (Object.keys(SYMBOLS) as ActionKind[])
		.filter((kind) => used.has(kind))
		.map((kind) => `${SYMBOLS[kind]} ${VERBS[kind]}`);
	return `Actions:  ${entries.join("   ")}`;
}

function listRuns(actions: readonly PlannedAction[]): string {
	const named = actions
		.slice(0, NAMED_UNCHANGED)
		.map((action) => `${printable(action.address)}${action.run ? ` (${runText(action.run)})` : ""}`);
	const rest = actions.length - named.length;
	return named.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function unchangedLines(actions: readonly PlannedAction[]): readonly string[] {
	if (actions.length === 0) return [];
	return wrap(`${actions.length} unchanged: ${listRuns(actions)}`, "  ");
}

function noChangesLines(plan: Plan, unchanged: readonly PlannedAction[]): readonly string[] {
	if (unchanged.length === 0 && plan.leftOut > 0) {
		return [
			`Nothing to plan: -target and -exclude leave out all of stack ${printable(plan.stack)} (${plural(plan.leftOut, "benchmark")}).`,
		];
	}
	if (unchanged.length === 0) {
		return [`No changes. Stack ${printable(plan.stack)} has no benchmarks, and nothing of it is live.`];
	}
	return wrap(`No changes. ${listRuns(unchanged)}`, "  ");
}

function scriptNoteLines(actions: readonly PlannedAction[]): readonly string[] {
	const noted = actions.filter((action) => action.scriptNote && action.kind === "none");
	if (noted.length === 0) return [];
	const names = noted.map((action) => printable(action.address)).join(", ");
	return wrap(`The job script of ${names} differs through an upgrade of this program only: no change.`, "  ");
}

function footerLines(plan: Plan): readonly string[] {
	const counts = count(plan.actions);
	const last = [
		...(counts.decide > 0 ? [`${counts.decide} ${counts.decide === 1 ? "needs" : "need"} a decision.`] : []),
		...(counts.refused > 0 ? [`${counts.refused} refused: apply does nothing until that is solved.`] : []),
	];
	const adopts = counts.adopt > 0 ? `${counts.adopt} to adopt, ` : "";
	const updates = counts.update > 0 ? `${counts.update} to update, ` : "";
	const line = `Plan: ${adopts}${updates}${counts.submit} to submit, ${counts.resubmit} to resubmit, ${counts.resume} to resume, ${counts.cancel} to cancel.`;
	const left = plan.leftOut > 0 ? [`${plan.leftOut} left out by -target and -exclude.`] : [];
	return [...wrap([line, ...last, ...left].join(" "), "  "), ...costLines(plan)];
}

function costLines(plan: Plan): readonly string[] {
	const cost = estimate(plan.actions, plan.state);
	const counted = cost.jobs - cost.uncounted;
	if (cost.jobs === 0) return [];
	// A job on this machine takes what is there.
	if (plan.actions.every(({ desired }) => desired === null || isLocal(desired))) return [];
	if (counted === 0) {
		return [`${plural(cost.nodes, "node")} in all. GPU-hours: not known, as no pool says gpus_per_node.`];
	}
	const bound = cost.atMost === null ? "no upper bound" : `at most ${cost.atMost.toFixed(1)}`;
	const expected = cost.expected
		? ` (expected ${cost.expected.gpuHours.toFixed(1)}, from ${plural(cost.expected.runs, "earlier run")})`
		: "";
	const left =
		cost.uncounted > 0 ? ` Without ${plural(cost.uncounted, "job")} whose GPUs are not known.` : "";
	return [`GPU-hours: ${bound}${expected}. ${plural(cost.nodes, "node")} in all.${left}`];
}

function isLocal({ document }: Desired): boolean {
	const compute = document.get("compute");
	return (
		compute instanceof Map &&
		[...compute.values()].some((one) => one instanceof Map && one.get("type") === "local")
	);
}

function problemLines(problem: Problem, paint: Paint): readonly string[] {
	const word = { error: "Error", warning: "Warning", note: "Note" }[problem.severity];
	const mark = problem.severity === "error" ? paint.error : paint.warn;
	const said = [problem.at, problem.message].filter((part) => part !== "").join(": ");
	const remedy = problem.remedy ? `; ${problem.remedy}` : "";
	const text = printable(`${problem.code}  ${said}${remedy}`);
	const lines = wrapBeside(`${word}  ${text}`, " ".repeat(9), printable(place(problem.source)));
	return lines.map((line, i) => (i === 0 ? mark(word) + line.slice(word.length) : line));
}

function count(actions: readonly PlannedAction[]) {
	const of = (kind: ActionKind) => actions.filter((action) => action.kind === kind && !action.refused).length;
	return {
		submit: of("submit"),
		adopt: of("adopt"),
		resubmit: of("resubmit"),
		update: of("update"),
		resume: of("resume"),
		cancel: of("cancel"),
		decide: of("decide"),
		refused: actions.filter((action) => action.refused).length,
		unchanged: of("none"),
	};
}

/** The plan as events: drift, every action (unchanged ones too), diagnostics, and the summary. */
export function planEvents(plan: Plan): readonly Unstamped[] {
	const cost = estimate(plan.actions, plan.state);
	return [
		...plan.drift.map(({ address, from, to, message }) => ({
			type: "drift" as const,
			addr: address,
			from,
			to,
			message,
		})),
		...plan.actions.map(plannedChange),
		...plan.problems.map((problem) => ({ type: "diagnostic" as const, ...problemFields(problem) })),
		{
			type: "change_summary",
			stack: plan.stack,
			lineage: plan.lineage,
			serial: plan.serial,
			left_out: plan.leftOut,
			...count(plan.actions),
			jobs: cost.jobs,
			nodes: cost.nodes,
			gpu_hours_at_most: cost.atMost,
			gpu_hours_expected: cost.expected?.gpuHours ?? null,
			jobs_without_gpus: cost.uncounted,
		},
	];
}

function plannedChange(action: PlannedAction): Unstamped {
	const { run, desired } = action;
	return {
		type: "planned_change",
		addr: action.address,
		action: action.kind,
		reason: action.reason,
		changes: action.changes.map((change) => ({
			path: [...change.path],
			...(change.before === undefined ? {} : { before: plain(change.before) }),
			...(change.after === undefined ? {} : { after: plain(change.after) }),
			class: change.class,
			...(change.order ? { order: true as const } : {}),
		})),
		files: action.files.map(({ file, lines }) => ({ file, lines: [...lines] })),
		job: desired && {
			nodes: desired.size.nodes,
			gpus_per_node: desired.size.gpusPerNode,
			walltime: desired.size.walltime,
			partition: desired.size.partition,
		},
		run: run && {
			run_dir: run.runDir,
			status: run.status,
			job_ids: run.segments.map((segment) => segment.jobId),
			note: run.note,
		},
		cache_valid: action.cacheValid,
		script_note: action.scriptNote,
		...(action.refused ? { refused: problemFields(action.refused) } : {}),
	};
}
