/** Waits until runs have ended. Only looks: what becomes due meanwhile is named and left to the next apply. */
import { type ChainLimits, isLive, type RunRecord } from "../../state/document.ts";
import { resumption } from "../chain/resume.ts";

/** A run that is waited for. */
export interface Awaited {
	readonly stack: string;
	readonly benchmark: string;
	readonly address: string;
	/** Limits of its chain by the gymfile; null when it is not resumable. */
	readonly limits: ChainLimits | null;
}

/** The outside of a wait. */
export interface WaitIo {
	/** The runs of a stack as they are now, looked at anew. @throws GymError when the cluster cannot be asked */
	readonly look: (stack: string) => Promise<ReadonlyMap<string, RunRecord>>;
	/** Returns after that many milliseconds, or at once when the user stops. */
	readonly sleep: (milliseconds: number) => Promise<void>;
	readonly monotonicMs: () => number;
	readonly signal: AbortSignal;
}

/** Milliseconds between looks: from the first to the longest. */
export interface Intervals {
	readonly first: number;
	readonly longest: number;
}

/** How often a cluster is asked when nobody says otherwise. */
export const INTERVALS: Intervals = { first: 10_000, longest: 60_000 };

/** What a look showed of one run; told when its status is another than before. */
export interface Change {
	readonly address: string;
	/** Null for the first look. */
	readonly from: RunRecord["status"] | null;
	readonly run: RunRecord;
	/** It is not live any more. */
	readonly isOver: boolean;
	/** It stopped short, and the next apply goes on with it. */
	readonly isDue: boolean;
}

/** How a wait ended. */
export type WaitEnd = "succeeded" | "not-succeeded" | "timed-out" | "interrupted";

/**
 * Waits until none of the runs is live any more. A cluster that does not answer is asked again later.
 * @param timeoutMs milliseconds; null waits as long as it takes
 */
export async function waitForRuns(
	awaited: readonly Awaited[],
	io: WaitIo,
	options: {
		readonly timeoutMs: number | null;
		readonly intervals: Intervals;
		readonly changed: (change: Change) => void;
		/** Told when a look failed, with the words of the first failure in a row. */
		readonly silent: (error: unknown) => void;
	},
): Promise<WaitEnd> {
	const start = io.monotonicMs();
	const seen = new Map<string, RunRecord>();
	let interval = options.intervals.first;
	let isSilent = false;
	for (;;) {
		let moved = false;
		try {
			moved = await lookAtAll(awaited, seen, io, options.changed);
			isSilent = false;
		} catch (error) {
			if (!isSilent) options.silent(error);
			isSilent = true;
		}
		if (!isSilent && awaited.every((one) => !isOpen(seen.get(one.address)))) break;
		if (io.signal.aborted) return "interrupted";
		const left = (options.timeoutMs ?? Number.POSITIVE_INFINITY) - (io.monotonicMs() - start);
		if (left <= 0) return "timed-out";
		if (moved) interval = options.intervals.first;
		await io.sleep(Math.min(interval, left));
		interval = Math.min(interval * 1.5, options.intervals.longest);
		if (io.signal.aborted) return "interrupted";
	}
	const all = awaited.every((one) => seen.get(one.address)?.status === "succeeded");
	return all ? "succeeded" : "not-succeeded";
}

function isOpen(run: RunRecord | undefined): boolean {
	return run !== undefined && isLive(run.status);
}

/** @returns whether any status is another than before */
async function lookAtAll(
	awaited: readonly Awaited[],
	seen: Map<string, RunRecord>,
	io: WaitIo,
	changed: (change: Change) => void,
): Promise<boolean> {
	let moved = false;
	for (const stack of new Set(awaited.map((one) => one.stack))) {
		const runs = await io.look(stack);
		for (const { benchmark, address, limits } of awaited.filter((one) => one.stack === stack)) {
			const run = runs.get(benchmark);
			if (!run) continue;
			const from = seen.get(address)?.status ?? null;
			seen.set(address, run);
			if (from === run.status) continue;
			moved ||= from !== null;
			const isOver = !isLive(run.status);
			const isDue = isOver && resumption(run, limits).kind === "goes-on";
			changed({ address, from, run, isOver, isDue });
		}
	}
	return moved;
}
