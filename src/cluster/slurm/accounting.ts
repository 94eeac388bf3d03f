/** What the accounting keeps of jobs: one sacct call and the reading of its answer. */
import type { AccountingRow } from "../jobs.ts";
import { count, present, splitRows, startOf } from "./rows.ts";
import { parseSlurmTime } from "./time.ts";

const FIELDS = [
	"jobid",
	"state",
	"exitcode",
	"elapsedraw",
	"submit",
	"start",
	"end",
	"nodelist",
	"user",
	"cluster",
	"workdir",
] as const;

/** Older than any job: without a start time sacct looks at today only, on some versions even with ids. */
const SINCE = "2010-01-01";

/**
 * The words of a command that asks for some jobs, whoever owns them and whenever they ran.
 * @param ids a shell word: their ids with commas between
 * @param where further words, e.g. `-M` with a cluster's name
 */
export function accountingCommand(ids: string, where = ""): string {
	return `env SLURM_TIME_FORMAT=%s sacct${where && ` ${where}`} -X -n -P -S ${SINCE} -j ${ids} -o ${FIELDS.join(",")}`;
}

/**
 * Reads the answer of `accountingCommand`. A requeued job has several records: its last one counts.
 * @param utcOffset seconds that the cluster's clock is ahead of UTC, for sites that print local times
 */
export function parseAccounting(text: string, utcOffset: number): readonly AccountingRow[] {
	const rows = splitRows(text, FIELDS.length).map((row): AccountingRow => {
		const [jobId, state, exit, elapsed, submit, start, end, nodeList, user, cluster, workDir] =
			row as string[];
		const exited = /^(\d+):(\d+)$/.exec(exit!);
		return {
			jobId: jobId!,
			cluster: present(cluster!),
			state: state!.split(/\s/)[0]!,
			cancelledBy: /^CANCELLED by (\d+)/.exec(state!)?.[1] ?? null,
			exitCode: exited ? Number(exited[1]) : null,
			signal: exited && exited[2] !== "0" ? Number(exited[2]) : null,
			elapsed: count(elapsed!),
			submittedAt: parseSlurmTime(submit!, utcOffset),
			startedAt: startOf(state!, parseSlurmTime(start!, utcOffset), present(nodeList!)),
			endedAt: parseSlurmTime(end!, utcOffset),
			nodeList: present(nodeList!),
			user: user!,
			workDir: workDir!,
		};
	});
	return [...new Map(rows.map((row) => [row.jobId, row])).values()];
}
