/** Slurm behind the `Scheduler` interface: each method sends one script and reads its answer. */
import { fail, type GymError } from "../../errors.ts";
import type { Points } from "../../points.ts";
import type {
	CancelOutcome,
	JobOutcome,
	LogChunk,
	Observation,
	PreflightQuery,
	RunQuery,
	Scheduler,
	Submission,
	SubmitOutcome,
	UpdateOutcome,
} from "../scheduler.ts";
import { mountsMissing, outputPathNotWritable, replaceUnfinished, stagingFailed } from "../submit-errors.ts";
import type { Exchange, Transport } from "../transport/transport.ts";
import { parseAccounting } from "./accounting.ts";
import { cancelScript } from "./cancel-script.ts";
import { findScript, parseFound } from "./find-script.ts";
import { parseLimits } from "./limits.ts";
import { logsScript } from "./logs-script.ts";
import { answersOf, observeScript, parseSections, runFiles } from "./observe-script.ts";
import { parseQueue } from "./queue.ts";
import { SUBMIT_EXIT, submitScript } from "./submit-script.ts";
import { parseUtcOffset } from "./time.ts";
import { updateScript } from "./update-script.ts";

/** The last lines of what a script said on stderr, for a message. */
function lastWords(exchange: Exchange): string {
	return exchange.stderr.trim().split("\n").slice(-3).join("\n") || `exit code ${exchange.code}`;
}

function noSlurm(label: string): GymError {
	return fail(
		"refused",
		"no-sbatch",
		`sbatch and squeue are not on PATH on ${label}, in a login shell neither`,
		"check compute.hostname; load Slurm in the login profile of that host",
	);
}

function submitError(exchange: Exchange, submission: Submission, label: string): GymError {
	switch (exchange.code) {
		case SUBMIT_EXIT.noSbatch:
			return noSlurm(label);
		case SUBMIT_EXIT.outputPath:
			return outputPathNotWritable(submission.outputPath, label, lastWords(exchange));
		case SUBMIT_EXIT.mounts:
			return mountsMissing(exchange.stdout.trim().split("\n"), label);
		case SUBMIT_EXIT.lock:
			return fail(
				"failure",
				"submit-lock",
				`no lock for the submission on ${label}: ${lastWords(exchange)}`,
				"an earlier exchange may still be at work: run apply again in a minute; its file system must support flock",
			);
		case SUBMIT_EXIT.queueSilent:
			return fail(
				"failure",
				"queue-silent",
				`squeue does not answer on ${label}; nothing was submitted`,
				"run apply again when the scheduler answers",
			);
		case SUBMIT_EXIT.replacing:
			return replaceUnfinished(label);
		default:
			return stagingFailed(label, lastWords(exchange));
	}
}

function epoch(text: string | undefined): number | null {
	return text && /^\d+$/.test(text) ? Number(text) : null;
}

function jobOutcome(fields: readonly string[]): JobOutcome {
	const [, benchmark, id, cluster, seen, error] = fields;
	const [state, reason, submitted, start] = (seen ?? "").split("|");
	return {
		benchmark: benchmark!,
		jobId: id || null,
		error: id
			? null
			: Buffer.from(error ?? "", "base64")
					.toString("utf8")
					.trim(),
		state: state || null,
		reason: reason && reason !== "None" ? reason : null,
		submittedAt: epoch(submitted),
		estimatedStart: epoch(start),
		cluster: cluster || null,
	};
}

const rows = (exchange: Exchange) =>
	exchange.stdout
		.split("\n")
		.filter(Boolean)
		.map((line) => line.split("\t"));

/** Slurm reached over `transport`. */
export function slurmScheduler(transport: Transport, points: Points): Scheduler {
	/** Once more as a login shell when Slurm's programs are not on PATH. */
	const run = async (name: string, script: string): Promise<Exchange> => {
		const first = await transport.run(name, script);
		return first.code === SUBMIT_EXIT.noSbatch ? transport.run(name, script, { login: true }) : first;
	};

	return {
		label: transport.label,

		async submit(submission: Submission): Promise<SubmitOutcome> {
			const exchange = await run("submit", submitScript(submission, points));
			if (exchange.code !== 0) throw submitError(exchange, submission, transport.label);
			const lines = rows(exchange);
			const who = lines.find(([kind]) => kind === "who");
			return {
				user: who?.[1] ?? "",
				at: Number(who?.[2] ?? 0),
				jobs: lines.filter(([kind]) => kind === "job").map(jobOutcome),
			};
		},

		async observe(queries: readonly RunQuery[], preflight: PreflightQuery | null): Promise<Observation> {
			const exchange = await run("observe", observeScript(queries, preflight));
			if (exchange.code === SUBMIT_EXIT.noSbatch) throw noSlurm(transport.label);
			if (exchange.code !== 0) {
				throw fail(
					"failure",
					"observe-failed",
					`looking at ${transport.label} failed: ${lastWords(exchange)}`,
				);
			}
			const sections = parseSections(exchange.stdout);
			const text = (name: string) => sections.get(name)?.toString("utf8");
			const [user, at, zone] = (text("who") ?? "").trim().split(" ");
			const utcOffset = parseUtcOffset(zone ?? "") ?? 0;
			const dirs = new Set(["", ...queries.map((query) => query.jobDir)]);
			const queue = answersOf(sections, "queue");
			const accounting = answersOf(sections, "accounting");
			return {
				user: user ?? "",
				at: Number(at ?? 0),
				queue: queue?.flatMap((each) => parseQueue(each, utcOffset)) ?? null,
				// Another cluster, and this one later, gives the same id to another job: known by its directory.
				accounting:
					accounting
						?.flatMap((each) => parseAccounting(each, utcOffset))
						.filter(({ workDir }) => dirs.has(workDir)) ?? null,
				preflight: preflight && {
					sbatch: sections.has("sbatch"),
					pyxis: sections.has("pyxis"),
					writable: sections.has("writable"),
					missingMounts: (text("mounts") ?? "").split("\n").filter(Boolean),
					limits: parseLimits(text),
				},
				runs: new Map(
					queries.map((query, index) => [
						query.jobDir,
						runFiles(sections, index, query.jobDir.slice(query.jobDir.lastIndexOf("/") + 1)),
					]),
				),
			};
		},

		async find(where) {
			const exchange = await transport.run("find", findScript(where));
			if (exchange.code !== 0) {
				throw fail(
					"failure",
					"find-failed",
					`looking for runs on ${transport.label} failed: ${lastWords(exchange)}`,
				);
			}
			return parseFound(exchange.stdout);
		},

		async cancel(jobDirs: readonly string[]): Promise<CancelOutcome> {
			const exchange = await run("cancel", cancelScript(jobDirs, points));
			if (exchange.code === SUBMIT_EXIT.noSbatch) throw noSlurm(transport.label);
			if (exchange.code !== 0) {
				throw fail(
					"failure",
					"cancel-failed",
					`cancelling on ${transport.label} stopped: ${lastWords(exchange)}`,
					"run the command again",
				);
			}
			const lines = rows(exchange);
			const cancelled = new Map<string, string[]>(jobDirs.map((dir) => [dir, []]));
			for (const [kind, id, dir] of lines) if (kind === "cancelled") cancelled.get(dir!)?.push(id!);
			return {
				at: Number(lines.find(([kind]) => kind === "at")?.[1] ?? 0),
				cancelled,
				left: [...new Set(lines.filter(([kind]) => kind === "left").map(([, , dir]) => dir!))],
			};
		},

		async update(updates): Promise<readonly UpdateOutcome[]> {
			const exchange = await run("update", updateScript(updates, points));
			if (exchange.code === SUBMIT_EXIT.noSbatch) throw noSlurm(transport.label);
			if (exchange.code !== 0) {
				throw fail(
					"failure",
					"update-failed",
					`updating runs on ${transport.label} stopped: ${lastWords(exchange)}`,
					"run apply again",
				);
			}
			const lines = rows(exchange);
			return updates.map(({ jobDir }, index) => {
				const own = lines.filter(([, of]) => of === String(index));
				const failed = own.find(([kind]) => kind === "failed");
				return {
					jobDir,
					jobIds: own.filter(([kind]) => kind === "updated").map(([, , id]) => id!),
					error: failed
						? Buffer.from(failed[3] ?? "", "base64")
								.toString("utf8")
								.trim()
						: null,
				};
			});
		},

		endFallen: async () => undefined,

		async logs(jobDir, offsets, tail): Promise<readonly LogChunk[]> {
			const exchange = await transport.run("logs", logsScript(jobDir, offsets, tail));
			if (exchange.code !== 0) {
				throw fail(
					"failure",
					"logs-failed",
					`reading logs on ${transport.label} failed: ${lastWords(exchange)}`,
				);
			}
			return exchange.stdout
				.split("\n")
				.filter(Boolean)
				.map((line) => {
					const [file, size, text] = line.split(" ");
					return {
						file: Buffer.from(file!, "base64").toString("utf8").trimEnd(),
						size: Number(size),
						text: Buffer.from(text ?? "", "base64").toString("utf8"),
					};
				});
		},

		close: () => transport.close(),
	};
}
