/** The block of one planned action. */
import { isLive } from "../../plan/decide.ts";
import type { ActionKind, Change, PlannedAction } from "../../plan/plan.ts";
import { diffText, fold } from "../../plan/text-diff.ts";
import type { Value } from "../../submit/config.ts";
import { describeDuration, parseDuration } from "../../submit/duration.ts";
import { columns, justify, pad, printable, WIDTH, wrap } from "./layout.ts";
import type { Paint } from "./paint.ts";
import type { ShowJob } from "./plan.ts";
import { pathText, place, sizeText, valueText } from "./words.ts";

/** Symbol of each kind of action, as the legend and the blocks show it. */
export const SYMBOLS: Readonly<Record<ActionKind, string>> = {
	submit: "+",
	adopt: "=",
	resubmit: "-/+",
	update: "~",
	resume: ">",
	cancel: "-",
	decide: "!",
	none: "",
};

/** What the legend calls each kind of action. */
export const VERBS: Readonly<Record<ActionKind, string>> = {
	submit: "submit",
	adopt: "adopt",
	resubmit: "resubmit",
	update: "update in place",
	resume: "resume",
	cancel: "cancel",
	decide: "needs a decision",
	none: "no change",
};

interface Options {
	readonly showJob: ShowJob;
	readonly paint: Paint;
}

/** Lines of one action that is not `none`. */
export function actionLines(action: PlannedAction, options: Options): readonly string[] {
	if (action.kind === "decide") return decisionLines(action, options.paint);
	return [
		...wrap(headline(action), "  ").map(options.paint.strong),
		...changeGroups(action, options),
		...detailLines(action, options.paint),
		...fileLines(action, options),
		...refusalLines(action, options.paint),
	];
}

function decisionLines(action: PlannedAction, paint: Paint): readonly string[] {
	const { run } = action;
	const address = printable(action.address);
	const note = run?.note ? `: ${printable(run.note)}` : "";
	const text = `! ${address}  ${run?.status ?? action.reason}${note} (run kept: ${printable(run?.jobDir ?? "")})`;
	const [first = "", ...rest] = wrap(text, "    ");
	return [paint.warn(first), ...rest.map(paint.warn), `    gym logs ${address} · gym apply -replace=${address}`];
}

function headline(action: PlannedAction): string {
	const address = `# ${printable(action.address)}`;
	if (action.refused) return `${address} cannot be ${action.kind === "cancel" ? "cancelled" : "submitted"} now`;
	switch (action.kind) {
		case "cancel":
			return `${address} will be cancelled  (no longer in the gymfile)`;
		case "resume":
			return `${address} will be resumed`;
		case "adopt":
			return `${address} will be adopted  (its run was found on the cluster)`;
		case "update":
			return `${address} will be updated in place`;
		default:
			return `${address} will be submitted${because(action)}`;
	}
}

function because(action: PlannedAction): string {
	switch (action.reason) {
		case "changed": {
			const results = action.changes.filter((change) => change.class === "results");
			if (results.length > 0) return `  (changes results: ${[...new Set(results.map(lastKey))].join(", ")})`;
			return action.changes.some((change) => change.class === "speed") ? "  (speed only)" : "  (cosmetic)";
		}
		case "replace-requested":
			return "  (-replace)";
		case "unfinished-submission":
			return `  (${unfinished(action)})`;
		case "other-owner":
			return `  (the submission of ${printable(action.run?.submittedBy ?? "somebody else")} came to no job)`;
		default:
			return "";
	}
}

function unfinished(action: PlannedAction): string {
	switch (action.run?.status) {
		case "refused":
			return "it was refused before";
		case "held":
			return "its job was left held and will be released";
		default:
			return "an earlier apply did not get to its end";
	}
}

function lastKey(change: Change): string {
	const key = change.path.findLast((step) => typeof step === "string") ?? "";
	return printable(key);
}

/** Path elements that make a section, which is headed once: a service, a benchmark, the driver. */
function sectionLength(path: Change["path"]): number {
	if (path[0] === "driver") return path[1] === "benchmarks" ? Math.min(3, path.length) : 1;
	return path[0] === "services" || path[0] === "compute" ? Math.min(2, path.length) : 1;
}

function changeGroups(action: PlannedAction, options: Options): readonly string[] {
	const groups = Map.groupBy
		? Map.groupBy(action.changes, sectionOf)
		: groupBySection(action.changes);
	return [...groups].flatMap(([section, changes], i) => {
		const symbol = pad(i === 0 ? SYMBOLS[action.kind] : "", 3);
		const head = justify(`${symbol} ${section}`, printable(place(changes.find((c) => c.source)?.source)));
		return [paintSymbol(head, action, options.paint), ...changes.flatMap((change) => changeLines(change, options))];
	});
}
