/** Cancels the jobs of some benchmarks, whatever the gymfile says by now: the state knows where they are. */

import { isDeepStrictEqual } from "node:util";
import { isLive } from "../../state/document.ts";
import { GymError } from "../errors.ts";
import type { Io } from "../io.ts";
import { observeState } from "./observe.ts";
import { cancelled, endReplaced, withCurrent } from "./record.ts";
import { liveDirs } from "./submission.ts";

export interface CancelOptions {
	readonly benchmarks: readonly string[];
	/** Seconds to wait for the lock. */
	readonly lockTimeout: number;
	/** Told for each address; `left` when jobs were still listed when we gave up. */
	readonly cancelled: (address: string, jobIds: readonly string[], left: boolean) => void;
}

/** Cancels the jobs of some benchmarks, under the lock; what was seen is recorded. */
export async function cancelRuns(stack: string, io: Io, options: CancelOptions): Promise<void> {
	const lease = await io.store.acquire(stack, "cancel", { timeoutSeconds: options.lockTimeout });
	try {
		const before = await lease.read();
		if (!before?.cluster) return;
		const scheduler = io.scheduler(before.cluster);
		const { observation, state: seen } = await observeState(before, scheduler, null);
		let state = seen;
		const runs = options.benchmarks.flatMap((benchmark) => {
			const run = state.benchmarks.get(benchmark)?.current;
			return run ? [{ benchmark, run }] : [];
		});
		const others = runs.filter(
			({ run }) => run.submittedBy !== null && run.submittedBy !== observation.user && isLive(run.status),
		);
		if (others.length > 0) {
			throw new GymError(
				"refused",
				others.map(({ benchmark, run }) => ({
					code: "other-owner",
					severity: "error" as const,
					at: "",
					message: `${stack}/${benchmark} belongs to ${run.submittedBy}`,
					remedy: `ask ${run.submittedBy} to cancel it`,
				})),
			);
		}
		// A replacement that was cut short leaves an earlier run live: it is cancelled too.
		const dirsOf = ({ benchmark, run }: (typeof runs)[number]) => [
			run.jobDir,
			...liveDirs(seen.benchmarks.get(benchmark)!.history),
		];
		const outcome = await scheduler.cancel(runs.flatMap(dirsOf));
		for (const one of runs) {
			const { benchmark, run } = one;
			const ids = dirsOf(one).flatMap((dir) => outcome.cancelled.get(dir) ?? []);
			const left = dirsOf(one).some((dir) => outcome.left.includes(dir));
			const isOpen = isLive(run.status) || run.status === "refused";
			if (!left && isOpen) state = withCurrent(state, benchmark, cancelled(run, ids, outcome.at));
			if (!left) state = endReplaced(state, benchmark, outcome.at);
			options.cancelled(`${stack}/${benchmark}`, ids, left);
		}
		if (!isDeepStrictEqual(state, before)) await lease.write(state, "cancelled");
	} finally {
		await lease.release();
	}
}
