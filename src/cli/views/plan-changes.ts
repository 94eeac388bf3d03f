/** What an action changes, path by path, and diffs. */
import type { Change } from "../../plan/plan.ts";
import { diffText, fold } from "../../plan/text-diff.ts";
import type { Value } from "../../submit/config.ts";
import { columns, pad, printable, WIDTH, wrapBeside } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { pathText, place, valueText } from "./words.ts";

/** How much of the rendered jobs a plan shows: all, folded beyond 40 lines, nothing. */
export type ShowJob = "full" | "fold" | "none";

/** How a plan is shown. */
export interface ShowOptions {
	readonly showJob: ShowJob;
	readonly paint: Paint;
}

/** Path elements that make a section, which is headed once: a service, a benchmark, the driver. */
function sectionLength(path: Change["path"]): number {
	if (path[0] === "driver") return path[1] === "benchmarks" ? Math.min(3, path.length) : 1;
	return path[0] === "services" || path[0] === "compute" ? Math.min(2, path.length) : 1;
}

/**
 * The changes of an action, by section; each is headed once, with the line where it was written.
 * @param mark stands before the first
 */
export function changeGroups(
	changed: readonly Change[],
	mark: string,
	options: ShowOptions,
): readonly string[] {
	const sections = new Map<string, Change[]>();
	for (const change of changed) {
		const section = pathText(change.path.slice(0, sectionLength(change.path)));
		sections.set(section, [...(sections.get(section) ?? []), change]);
	}
	return [...sections].flatMap(([section, changes], i) => {
		const symbol = i === 0 ? mark : "";
		const source = changes.find((change) => change.source)?.source;
		const head = wrapBeside(`${pad(symbol, 3)} ${section}`, "    ", printable(place(source)));
		return [
			...head.map((line, at) => (at === 0 ? symbolLine(symbol, line, options.paint) : line)),
			...changes.flatMap((change) => changeLines(change, options)),
		];
	});
}

/** A line that begins with a symbol, or with none, painted as that means. */
export function symbolLine(symbol: string, line: string, paint: Paint): string {
	const mark = { "+": paint.add, "-": paint.remove }[symbol] ?? paint.change;
	return symbol === "" ? line : mark(symbol) + line.slice(symbol.length);
}

const NAME_COLUMNS = 22;
const VALUE_COLUMNS = 33;

function changeLines(change: Change, options: ShowOptions): readonly string[] {
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

/** Lines of a unified diff, folded unless all is shown. */
export function diffLines(lines: readonly string[], options: ShowOptions, indent: string): readonly string[] {
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
