/** Jobs whose supervisor was killed, or fell with the machine: what is left of them is ended and recorded. */
import type { Host } from "../../../state/host.ts";
import { endProcesses } from "./processes.ts";
import { type EndState, type Entry, epochSeconds, readEntries, recordEnd, standing } from "./registry.ts";

/** Ends what is left of all such jobs of this user in a registry, and records them as NODE_FAIL. */
export async function endGone(registry: string, host: Host, now: () => Date): Promise<void> {
	const mine = (await readEntries(registry)).filter(({ job }) => job.user === host.user);
	for (const entry of mine) {
		const { phase } = await standing(entry, host);
		if (phase === "gone") await endLeftovers(entry, "NODE_FAIL", host, now);
	}
}

/** Ends the processes of a job that has no supervisor, and records its end. */
export async function endLeftovers(
	entry: Entry,
	state: EndState,
	host: Host,
	now: () => Date,
): Promise<void> {
	const seen = await standing(entry, host);
	await endProcesses(entry.folder, null, host);
	const startedAt = "startedAt" in seen ? seen.startedAt : null;
	// Nobody knows when it fell; it counts as time of its chain, so not for more than it could have run.
	const latest = (startedAt ?? 0) + (entry.job.walltime ?? Number.POSITIVE_INFINITY);
	const endedAt = startedAt === null ? epochSeconds(now()) : Math.min(epochSeconds(now()), latest);
	await recordEnd(entry, { state, exitCode: null, signal: null, startedAt, endedAt });
}
