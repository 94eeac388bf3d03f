/** The block of one planned action. */
import { isLive } from "../../../state/document.ts";
import { currentSegment } from "../../chain/segments.ts";
import { isRenderedKnown } from "../../plan/action.ts";
import { isQueuedEdit } from "../../plan/change-class.ts";
import type { ActionKind, Change, PlannedAction } from "../../plan/plan.ts";
import type { Value } from "../../submit/config.ts";
import { columns, joinParts, pad, printable, wrap, wrapBeside } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { changeGroups, diffLines, type ShowOptions, symbolLine } from "./plan-changes.ts";
import { durationText, place, sizeText } from "./words.ts";

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

/** Lines of one action that is not `none`. */
export function actionLines(action: PlannedAction, options: ShowOptions): readonly string[] {
	if (action.kind === "decide") return decisionLines(action, options.paint);
	return [
		...wrap(headline(action), "  ").map(options.paint.strong),
		...changeGroups(action.changes, SYMBOLS[action.kind], options),
		...detailLines(action, options.paint),
		...fileLines(action, options),
		...refusalLines(action, options.paint),
	];
}

function decisionLines(action: PlannedAction, paint: Paint): readonly string[] {
	const { run } = action;
	const address = printable(action.address);
	const status = run?.status ?? action.reason;
	// "cancelled by alice" needs no "cancelled" before it.
	const said = run?.note?.startsWith(`${status} `)
		? run.note
		: [status, run?.note].filter(Boolean).join(": ");
	const lines = wrap(`! ${address}  ${printable(said)}`, "    ");
	const kept = joinParts([lines.at(-1)!, `(run kept: ${printable(run?.jobDir ?? "")})`], "    ", " ");
	const [first = "", ...rest] = [...lines.slice(0, -1), ...kept];
	return [
		paint.warn(first),
		...rest.map(paint.warn),
		...joinParts(
			[
				`    gym why ${address}`,
				`gym logs ${address}`,
				// A chain that stopped itself has used up a limit.
				`gym resume ${address}${run?.status === "stopped" ? " --reset-counters" : ""}`,
				`gym apply -replace=${address}`,
			],
			"    ",
		),
	];
}

/** What cannot be done when such an action is refused; `submitted` for the others. */
const PARTICIPLES: Partial<Readonly<Record<ActionKind, string>>> = {
	cancel: "cancelled",
	resume: "resumed",
	update: "updated",
};

function headline(action: PlannedAction): string {
	const address = `# ${printable(action.address)}`;
	if (action.refused) return `${address} cannot be ${PARTICIPLES[action.kind] ?? "submitted"} now`;
	switch (action.kind) {
		case "cancel":
			return `${address} will be cancelled  (no longer in the gymfile)`;
		case "resume":
			return `${address} will be resumed`;
		case "adopt":
			return `${address} will be adopted  (its run was found)`;
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

function detailLines(action: PlannedAction, paint: Paint): readonly string[] {
	const { run, desired } = action;
	const symbol = action.changes.length > 0 ? "" : SYMBOLS[action.kind];
	const job = run ? currentSegment(run.segments)?.jobId : undefined;
	const runs = run ? `${job ? `job ${job}, ` : ""}${run.status}` : "";
	if (!desired)
		return [symbolLine(symbol, `${pad(symbol, 3)} ${runs}; artifacts and history are kept`, paint)];
	const facts = [
		`job: ${sizeText(desired.size)}`,
		...(action.kind === "resubmit" ? ["the earlier run's cache cannot be reused"] : modelOf(action)),
		...(action.kind === "resume" && !action.refused ? ["goes on with its cache"] : []),
		...(action.kind === "update" ? [updateText(action)] : []),
	].join(" · ");
	const [first = "", ...rest] = wrap(`${pad(symbol, 3)} ${facts}`, "      ");
	const replaced = action.kind === "resubmit" && run && isLive(run.status) && !action.refused;
	return [
		symbolLine(symbol, first, paint),
		...rest,
		...(action.kind === "resume" ? usedTexts(action).map((text) => `    ${text}`) : []),
		...(replaced ? [`    its live run is cancelled once the new job is accepted (${runs})`] : []),
	];
}

/** When a live run takes up what changed. */
function updateText({ run, changes }: PlannedAction): string {
	if (!changes.some(({ path }) => isQueuedEdit(path))) return "each further segment reads its limits anew";
	return run?.status === "pending"
		? "the queued job keeps its place"
		: "the running segment stays as it is; it takes effect with the next one";
}

/** What a chain that goes on has used up. */
function usedTexts({ run, desired, goOn }: PlannedAction): readonly string[] {
	const limits = desired?.limits ?? null;
	if (limits === null || !run?.chain) return [];
	if (goOn?.resetCounters) return ["its counters start anew"];
	const { retries, walltime } = run.chain;
	const cap = limits.maxWalltime === null ? "" : ` of ${durationText(limits.maxWalltime)}`;
	// The failure that found none left is counted, too.
	const spent =
		retries > limits.maxRetries
			? `all ${limits.maxRetries} retries`
			: `${retries} of ${limits.maxRetries} retries`;
	return [`used so far: ${spent}, ${durationText(walltime)}${cap}`];
}

function mapAt(value: Value | undefined, key: string): Value | undefined {
	return value instanceof Map ? (value as ReadonlyMap<string, Value>).get(key) : undefined;
}

function modelOf(action: PlannedAction): readonly string[] {
	const document = action.desired!.document;
	const policy = mapAt(document.get("driver"), "policy_model");
	const model =
		typeof policy === "string" ? mapAt(mapAt(document.get("services"), policy), "model") : undefined;
	return typeof model === "string" ? [`model ${printable(model)}`] : [];
}

/** Diffs of the rendered files; of a new job they are shown only in full. */
function fileLines(action: PlannedAction, options: ShowOptions): readonly string[] {
	if (options.showJob === "none" || (action.run === null && options.showJob === "fold")) return [];
	if (options.showJob !== "full" && action.run && action.files.length > 0 && !isRenderedKnown(action.run)) {
		return ["    job.sh   not compared: the text of the earlier job is not known"];
	}
	const width = Math.max(7, ...action.files.map(({ file }) => columns(printable(file))));
	return action.files.flatMap((file) => {
		const [hunk = "", ...rest] = file.lines;
		return [`    ${pad(printable(file.file), width)}  ${hunk}`, ...diffLines(rest, options, "      ")];
	});
}

function refusalLines(action: PlannedAction, paint: Paint): readonly string[] {
	const { refused } = action;
	if (!refused) return [];
	const said = `    refused[${refused.code}]  ${printable(refused.message)}`;
	const lines = wrapBeside(said, "      ", printable(place(refused.source)));
	const remedy = refused.remedy ? wrap(`      ${printable(refused.remedy)}`, "      ") : [];
	return [...lines.map(paint.error), ...remedy];
}
