/** The block of one planned action. */
import { isLive } from "../../../state/document.ts";
import { currentSegment } from "../../chain/segments.ts";
import { isRenderedKnown } from "../../plan/action.ts";
import { isQueuedEdit } from "../../plan/change-class.ts";
import type { ActionKind, Change, PlannedAction } from "../../plan/plan.ts";
import { diffText, fold } from "../../plan/text-diff.ts";
import type { Value } from "../../submit/config.ts";
import { columns, joinParts, pad, printable, WIDTH, wrap, wrapBeside } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { durationText, pathText, place, sizeText, valueText } from "./words.ts";

/** How much of the rendered jobs a plan shows: all, folded beyond 40 lines, nothing. */
export type ShowJob = "full" | "fold" | "none";

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
	const status = run?.status ?? action.reason;
	// "cancelled by alice" needs no "cancelled" before it.
	const said = run?.note?.startsWith(`${status} `)
		? run.note
		: [status, run?.note].filter(Boolean).join(": ");
	const text = `! ${address}  ${printable(said)} (run kept: ${printable(run?.jobDir ?? "")})`;
	const [first = "", ...rest] = wrap(text, "    ");
	return [
		paint.warn(first),
		...rest.map(paint.warn),
		...joinParts(
			[`gym why ${address}`, `gym logs ${address}`, `gym resume ${address}`, `gym apply -replace=${address}`],
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

/** Path elements that make a section, which is headed once: a service, a benchmark, the driver. */
function sectionLength(path: Change["path"]): number {
	if (path[0] === "driver") return path[1] === "benchmarks" ? Math.min(3, path.length) : 1;
	return path[0] === "services" || path[0] === "compute" ? Math.min(2, path.length) : 1;
}

function changeGroups(action: PlannedAction, options: Options): readonly string[] {
	const sections = new Map<string, Change[]>();
	for (const change of action.changes) {
		const section = pathText(change.path.slice(0, sectionLength(change.path)));
		sections.set(section, [...(sections.get(section) ?? []), change]);
	}
	return [...sections].flatMap(([section, changes], i) => {
		const symbol = i === 0 ? SYMBOLS[action.kind] : "";
		const source = changes.find((change) => change.source)?.source;
		const head = wrapBeside(`${pad(symbol, 3)} ${section}`, "    ", printable(place(source)));
		return [
			...head.map((line, at) => (at === 0 ? symbolLine(symbol, line, options.paint) : line)),
			...changes.flatMap((change) => changeLines(change, options)),
		];
	});
}

function symbolLine(symbol: string, line: string, paint: Paint): string {
	const mark = { "+": paint.add, "-": paint.remove }[symbol] ?? paint.change;
	return symbol === "" ? line : mark(symbol) + line.slice(symbol.length);
}

const NAME_COLUMNS = 22;
const VALUE_COLUMNS = 33;

function changeLines(change: Change, options: Options): readonly string[] {
	const name = pathText(change.path.slice(sectionLength(change.path)));
	const tag = change.class === "results" ? "" : change.class === "speed" ? "(speed only)" : "(cosmetic)";
	if (change.order) {
		const order = (keys: Value | undefined) => (keys as readonly string[]).map(printable).join(", ");
		return [valueLine(name || "order", `${order(change.before)} → ${order(change.after)}`, tag)];
	}
	const { before, after } = change;
	if (typeof before === "string" && typeof after === "string" && `${before}${after}`.includes("\n")) {
		return [valueLine(name, "text changed", tag), ...diffLines(diffText(before, after), options, "        ")];
	}
	const leaves = [...leavesOf(change.path, before, "before"), ...leavesOf(change.path, after, "after")];
	if (leaves.length > 2 || leaves.some((leaf) => leaf.path.length > change.path.length)) {
		return leaves.map((leaf) => {
			const below = pathText(leaf.path.slice(sectionLength(change.path)));
			const value = valueText(leaf.value);
			return valueLine(below, leaf.side === "before" ? `${value} → (not set)` : `(not set) → ${value}`, tag);
		});
	}
	const line = valueLine(name, `${valueText(before)} → ${valueText(after)}`, tag);
	if (columns(line) <= WIDTH) return [line];
	return [
		valueLine(name, tag, ""),
		`        ${options.paint.remove(`- ${valueText(before)}`)}`,
		`        ${options.paint.add(`+ ${valueText(after)}`)}`,
	];
}

function valueLine(name: string, values: string, tag: string): string {
	return `      ${pad(name, NAME_COLUMNS)} ${tag === "" ? values : `${pad(values, VALUE_COLUMNS)} ${tag}`}`.trimEnd();
}

interface Leaf {
	readonly path: Change["path"];
	readonly value: Value;
	readonly side: "before" | "after";
}

/** What stands in an added or removed mapping, line by line. */
function leavesOf(path: Change["path"], value: Value | undefined, side: Leaf["side"]): readonly Leaf[] {
	if (value === undefined) return [];
	if (!(value instanceof Map) || value.size === 0) return [{ path, value, side }];
	return [...(value as ReadonlyMap<string, Value>)].flatMap(([key, item]) =>
		leavesOf([...path, key], item, side),
	);
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
		...(action.kind === "resume" ? ["goes on with its cache"] : []),
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
function fileLines(action: PlannedAction, options: Options): readonly string[] {
	if (options.showJob === "none" || (action.run === null && options.showJob === "fold")) return [];
	if (options.showJob !== "full" && action.run && action.files.length > 0 && !isRenderedKnown(action.run)) {
		return ["    job.sh   not compared: the text of the earlier job is not known"];
	}
	return action.files.flatMap((file) => {
		const [hunk = "", ...rest] = file.lines;
		return [`    ${pad(printable(file.file), 8)} ${hunk}`, ...diffLines(rest, options, "      ")];
	});
}

function diffLines(lines: readonly string[], options: Options, indent: string): readonly string[] {
	const shown = options.showJob === "full" ? { lines, hidden: 0 } : fold(lines);
	return [
		...shown.lines.map((line) => {
			const mark = line.startsWith("+")
				? options.paint.add
				: line.startsWith("-")
					? options.paint.remove
					: null;
			const text = printable(line);
			return `${indent}${mark ? mark(text) : text}`;
		}),
		...(shown.hidden > 0 ? [`${indent}… ${shown.hidden} more lines, shown with --show-job=full`] : []),
	];
}

function refusalLines(action: PlannedAction, paint: Paint): readonly string[] {
	const { refused } = action;
	if (!refused) return [];
	const said = `    refused[${refused.code}]  ${printable(refused.message)}`;
	const lines = wrapBeside(said, "      ", printable(place(refused.source)));
	const remedy = refused.remedy ? wrap(`      ${printable(refused.remedy)}`, "      ") : [];
	return [...lines.map(paint.error), ...remedy];
}
