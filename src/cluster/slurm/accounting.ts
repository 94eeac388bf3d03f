/** What the accounting keeps of jobs: one sacct call and the reading of its answer. */
import { quote } from "../../job/script/quote.ts";
import { count, present, splitRows } from "./rows.ts";
import { parseSlurmTime } from "./time.ts";

/** One job as sacct shows it. Times are epoch seconds. It lags: by seconds for a start, by less for an end. */
export interface AccountingRow {
	readonly jobId: string;
	readonly cluster: string | null;
	/** Slurm's word without what stands behind it; `slurmState` says what it means. */
	readonly state: string;
	/** Numeric user id of who cancelled it (`CANCELLED by 1000`); null for Slurm itself and other states. */
	readonly cancelledBy: string | null;
	readonly exitCode: number | null;
	/** The signal that ended it; null for none. */
	readonly signal: number | null;
	/** Seconds. */
	readonly elapsed: number | null;
	readonly submittedAt: number | null;
	readonly startedAt: number | null;
	readonly endedAt: number | null;
	readonly nodeList: string | null;
	readonly user: string;
	/** Empty for some seconds when the end of a job that never started is heard of before its submit. */
	readonly workDir: string;
}

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

/** The words of a command that asks for these job ids, whoever owns them and whenever they ran. */
export function accountingCommand(jobIds: readonly string[]): string {
	return `env SLURM_TIME_FORMAT=%s sacct -X -n -P -S ${SINCE} -j ${quote(jobIds.join(","))} -o ${FIELDS.join(",")}`;
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
			startedAt: parseSlurmTime(start!, utcOffset),
			endedAt: parseSlurmTime(end!, utcOffset),
			nodeList: present(nodeList!),
			user: user!,
			workDir: workDir!,
		};
	});
	return [...new Map(rows.map((row) => [row.jobId, row])).values()];
}
