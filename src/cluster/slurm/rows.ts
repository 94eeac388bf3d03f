/** Lines of fields joined by `|`, of which only the last may itself hold a `|` (a work directory). */

import { jobState } from "../job-state.ts";

/** The fields of every line that has all of them and starts with a job id; other lines are notices. */
export function splitRows(text: string, fields: number): readonly (readonly string[])[] {
	return text.split(/\r?\n/).flatMap((line) => {
		const parts = line.split("|");
		if (parts.length < fields || !/^\s*\d+\s*$/.test(parts[0]!)) return [];
		const head = parts.slice(0, fields - 1).map((part) => part.trim());
		return [[...head, parts.slice(fields - 1).join("|")]];
	});
}

/** Null for the words that Slurm prints where there is nothing. */
export function present(text: string): string | null {
	return /^(|None|None assigned|N\/A|Unknown|\(null\)|n\/a)$/.test(text) ? null : text;
}

/**
 * When a job started; null for one that ended and never had nodes, of which Slurm calls the moment of its cancel the
 * start.
 */
export function startOf(state: string, at: number | null, nodeList: string | null): number | null {
	return nodeList === null && jobState(state).final ? null : at;
}

/** A count; null when it is none. */
export function count(text: string): number | null {
	return /^\d+$/.test(text) ? Number(text) : null;
}
