/** Takes one run directory into the state because a person says so: also one that another program submitted. */
import { emptyState, isLive, type RunRecord, type StateDocument } from "../../state/document.ts";
import { fail, GymError } from "../errors.ts";
import type { Io, Stack } from "../io.ts";
import { desiredJobs } from "../plan/desired.ts";
import { clusterOf, leaveOldPlace } from "./cluster-of.ts";
import { judge } from "./find-runs.ts";
import { observeState } from "./observe.ts";
import { withCurrent } from "./record.ts";

export interface AdoptOptions {
	/** Absolute, on the cluster. */
	readonly runDir: string;
	/** Seconds to wait for the lock. */
	readonly lockTimeout: number;
	/** Told for each address that was taken in. */
	readonly adopted: (address: string, run: RunRecord) => void;
}

/**
 * Makes the runs of a run directory the current ones of their addresses; earlier runs become history.
 * @throws GymError exit `refused`, codes `no-record`, `live-chain` when a live run would be hidden, `cluster-changed`
 */
export async function adoptRun(stack: Stack, io: Io, options: AdoptOptions): Promise<void> {
	const { desired } = desiredJobs(stack.config, {
		stack: stack.name,
		toolVersion: io.version,
		sources: stack.sources,
	});
	const cluster = clusterOf(stack);
	const scheduler = io.scheduler(cluster);
	const lease = await io.store.acquire(stack.name, "adopt", { timeoutSeconds: options.lockTimeout });
	try {
		const before = (await lease.read()) ?? emptyState(stack.name);
		const left = await leaveOldPlace(before, cluster, io.scheduler);
		const { observation, state: seen } = await observeState(left.state, scheduler, null);
		const { user } = observation;
		let state: StateDocument = { ...seen, cluster };
		const submissions = await scheduler.find({ runDir: options.runDir });
		const sought = { user, knownDirs: new Set<string>(), queuedDirs: new Set<string>() };
		const found = await judge(desired, submissions, scheduler, stack.name, sought, null);
		const runs = [...found].flatMap(([benchmark, { current, history }]) => {
			const run = current ?? history[0];
			return run ? [{ benchmark, run }] : [];
		});
		if (runs.length === 0) {
			throw fail(
				"refused",
				"no-record",
				submissions.length === 0
					? `there is no record (gym-job.json) in ${options.runDir}`
					: `${options.runDir} holds no run of ${user} for a benchmark of ${stack.name}`,
				submissions.length === 0
					? "name a run directory, gym-job-…, in the place where the stack runs"
					: "only runs of your own are taken in, of benchmarks that the document has",
			);
		}
		const hidden = runs.filter(({ benchmark, run }) => {
			const current = state.benchmarks.get(benchmark)?.current;
			return current && isLive(current.status) && current.runDir !== run.runDir;
		});
		if (hidden.length > 0) {
			throw new GymError(
				"refused",
				hidden.map(({ benchmark }) => ({
					code: "live-chain",
					severity: "error" as const,
					at: "",
					message: `${stack.name}/${benchmark} has a live run`,
					remedy: `gym cancel ${stack.name}/${benchmark} first, or wait until it has ended`,
				})),
			);
		}
		for (const { benchmark, run } of runs) state = withCurrent(state, benchmark, run);
		await lease.write(state, "adopted");
		for (const { benchmark, run } of runs) options.adopted(`${stack.name}/${benchmark}`, run);
	} finally {
		await lease.release();
	}
}
