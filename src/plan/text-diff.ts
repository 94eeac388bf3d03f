/** Unified diffs of rendered files. */
import { structuredPatch } from "diff";
import type { RenderedText } from "../../state/document.ts";
import type { FileDiff } from "./plan.ts";

/** Beyond so many inserted and deleted lines a diff is no longer searched for: all old lines, all new lines. */
const MAX_EDITS = 1000;

/** Lines shown of a diff before it is folded. */
const FOLD_AT = 40;

/** Diffs of all files that differ, in the order of `after`, then those that are gone. */
export function diffFiles(before: RenderedText, after: RenderedText): readonly FileDiff[] {
	const old = new Map(Object.entries(before));
	const now = new Map(Object.entries(after));
	const names = [...now.keys(), ...[...old.keys()].filter((name) => !now.has(name))];
	return names
		.map((file) => ({ file, lines: diffText(old.get(file) ?? "", now.get(file) ?? "") }))
		.filter((diff) => diff.lines.length > 0);
}

/**
 * Lines of a unified diff without file header, three lines of context; empty when the texts are equal.
 * The effort is bounded by a number of edits and not by time, so a plan is the same on every machine.
 */
export function diffText(before: string, after: string): readonly string[] {
	if (before === after) return [];
	// Where both end without a line feed, that is no difference worth a line.
	const end = before.endsWith("\n") || after.endsWith("\n") ? "" : "\n";
	const [old, now] = [before, after].map((text) => (text === "" ? "" : text + end)) as [string, string];
	const patch = structuredPatch("", "", old, now, "", "", { context: 3, maxEditLength: MAX_EDITS });
	if (!patch) return wholeBlock(before, after);
	return patch.hunks.flatMap((hunk) => [
		hunkHeader(hunk.oldStart, hunk.oldLines, hunk.newStart, hunk.newLines),
		...hunk.lines,
	]);
}

/** The first lines of a diff; `hidden` is how many were left out. At most 40 lines unless `limit` is given. */
export function fold(
	lines: readonly string[],
	limit: number = FOLD_AT,
): { readonly lines: readonly string[]; readonly hidden: number } {
	const shown = lines.slice(0, limit);
	return { lines: shown, hidden: lines.length - shown.length };
}

function wholeBlock(before: string, after: string): readonly string[] {
	const old = splitLines(before);
	const now = splitLines(after);
	return [
		hunkHeader(1, old.length, 1, now.length),
		...old.map((line) => `-${line}`),
		...now.map((line) => `+${line}`),
	];
}

/** A side without lines is numbered by the line before it, as diff programs do. */
function hunkHeader(oldStart: number, oldLines: number, newStart: number, newLines: number): string {
	const old = oldLines === 0 ? oldStart - 1 : oldStart;
	const now = newLines === 0 ? newStart - 1 : newStart;
	return `@@ -${old},${oldLines} +${now},${newLines} @@`;
}

function splitLines(text: string): readonly string[] {
	const lines = text.split("\n");
	return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
