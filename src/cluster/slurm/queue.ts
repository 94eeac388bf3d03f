/** What the controller knows of a user's jobs: one squeue call and the reading of its answer. */
import { parseDuration } from "../../submit/duration.ts";
import type { QueueRow } from "../jobs.ts";
import { count, present, splitRows, startOf } from "./rows.ts";
import { parseSlurmTime } from "./time.ts";

const FIELDS = ["%A", "%T", "%V", "%S", "%M", "%D", "%N", "%u", "%r", "%Z"] as const;

/** Filters that a user may have in the environment: they would hide jobs. */
const FILTERS = ["ACCOUNT", "LICENSES", "NAMES", "PARTITION", "QOS"]
	.map((name) => `-u SQUEUE_${name}`)
	.join(" ");

/**
 * The words of a command that lists all jobs of the user who runs it: pending, running and, until Slurm
 * forgets them (stock: 300 s), finished ones.
 * @param where further words, e.g. `-M` with a cluster's name
 */
export function queueCommand(where = ""): string {
	return `env ${FILTERS} SLURM_TIME_FORMAT=%s squeue${where && ` ${where}`} -h -a -t all -u "$(id -un)" -o '${FIELDS.join("|")}'`;
}

/**
 * Reads the answer of `queueCommand`; lines that are no rows are passed over.
 * @param utcOffset seconds that the cluster's clock is ahead of UTC, for sites that print local times
 */
export function parseQueue(text: string, utcOffset: number): readonly QueueRow[] {
	return splitRows(text, FIELDS.length).map((row) => {
		const [jobId, state, submitted, starts, elapsed, nodes, nodeList, user, reason, workDir] =
			row as string[];
		return {
			jobId: jobId!,
			state: state!,
			reason: present(reason!),
			submittedAt: parseSlurmTime(submitted!, utcOffset),
			startsAt: startOf(state!, parseSlurmTime(starts!, utcOffset), present(nodeList!)),
			elapsed: parseDuration(elapsed!),
			nodes: count(nodes!),
			nodeList: present(nodeList!),
			user: user!,
			workDir: workDir!,
		};
	});
}
