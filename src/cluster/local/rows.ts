/** Jobs of the registry as the rows that the status of a run is made from, in Slurm's words. */
import type { Host } from "../../../state/host.ts";
import type { AccountingRow, QueueRow } from "../jobs.ts";
import { type Entry, epochSeconds, type Standing } from "./registry.ts";

function stateOf(seen: Standing): Pick<QueueRow, "state" | "reason"> {
	switch (seen.phase) {
		case "held":
			return { state: "PENDING", reason: "JobHeldUser" };
		case "dependent":
			return { state: "PENDING", reason: "Dependency" };
		case "waiting":
			return { state: "PENDING", reason: "Resources" };
		case "running":
			return { state: "RUNNING", reason: null };
		case "gone":
			return { state: "NODE_FAIL", reason: null };
		case "ended":
			return { state: seen.end.state, reason: null };
	}
}

function startOf(seen: Standing): number | null {
	if (seen.phase === "held") return null;
	return seen.phase === "ended" ? seen.end.startedAt : seen.startedAt;
}

/** What a look at the queue says of a job that stands so, finished ones included. */
export function queueRow({ job }: Entry, seen: Standing, host: Host, now: Date): QueueRow {
	const startsAt = startOf(seen);
	const until = seen.phase === "ended" ? seen.end.endedAt : epochSeconds(now);
	return {
		jobId: String(job.id),
		...stateOf(seen),
		submittedAt: job.submittedAt,
		startsAt,
		elapsed: startsAt === null ? null : Math.max(0, until - startsAt),
		nodes: 1,
		nodeList: startsAt === null ? null : host.hostname,
		user: job.user,
		workDir: job.jobDir,
	};
}

/** What the accounting says of it. */
export function accountingRow(entry: Entry, seen: Standing, host: Host, now: Date): AccountingRow {
	const { startsAt, reason: _, nodes: __, ...row } = queueRow(entry, seen, host, now);
	const end = seen.phase === "ended" ? seen.end : null;
	return {
		...row,
		cluster: null,
		cancelledBy: null,
		exitCode: end?.exitCode ?? null,
		signal: end?.signal ?? null,
		startedAt: startsAt,
		endedAt: end?.endedAt ?? null,
	};
}
