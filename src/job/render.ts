/** From the job to its files. Pure: the run directory and the tool's version come in. */

import { collectorConfig } from "./collector-config.ts";
import type { Job } from "./model.ts";
import { budgetText, chainFunctions, chainStart, OWNERSHIP } from "./script/chain.ts";
import { collectorFunctions } from "./script/collector.ts";
import { COMMAND_FILE, driverFunctions } from "./script/driver.ts";
import { frame, TRAPS, watch } from "./script/frame.ts";
import { healthSection } from "./script/health.ts";
import { localPlatform } from "./script/local-platform.ts";
import type { Platform } from "./script/platform.ts";
import { quote } from "./script/quote.ts";
import { slurmPlatform } from "./script/slurm-platform.ts";
import { awaited, serviceFunctions } from "./script/steps.ts";
import { secretReferences } from "./secrets.ts";
import { RUN_ID_VARIABLE } from "./shapes/collector.ts";

const PLATFORMS: Readonly<Record<Job["platform"], Platform>> = { slurm: slurmPlatform, local: localPlatform };

/** Where a job is: its benchmark's directory, and the last part of the run directory. */
interface Place {
	readonly benchDir: string;
	readonly runId: string;
}

/** Folders of the benchmark's directory that every segment needs, and those of a chain. */
const FOLDERS = ["logs", "ends", "orders", "artifacts"];
const CHAIN_FOLDERS = ["claims", "progress"];

/** Stands for the run's id in a plan, so that a difference never shows ids. */
export const PLACEHOLDER_RUN_ID = "gym-job-YYYYMMDDTHHMMSSZ-xxxxxx";

/** A file of the benchmark's directory. */
export interface RenderedFile {
	readonly text: string;
	readonly mode: number;
}

/** The files of one job by their path below the benchmark's directory. */
export interface RenderedJob {
	readonly files: ReadonlyMap<string, RenderedFile>;
}

function setUp(job: Job): string {
	const secrets =
		secretReferences(job).length === 0
			? []
			: [
					"if [[ ! -O .env ]]; then",
					"\techo 'gym: the file with the values of host: variables is missing, or is not yours' >&2",
					"\tfinish 74 secrets",
					"fi",
				];
	return [
		'note start "${SLURM_RESTART_COUNT+,\\"restart\\":$SLURM_RESTART_COUNT}"',
		OWNERSHIP,
		...chainStart(job),
		...secrets,
		PLATFORMS[job.platform].setUp(job),
	].join("\n");
}

function launchLines(job: Job): string {
	const steps = [...awaited(job), job.driver];
	return [': >"$gym_orders"', ...steps.map(({ id, word }) => `launch ${id} start_${word}`)].join("\n");
}

function script(job: Job, place: Place, toolVersion: string): string {
	const { benchDir, runId } = place;
	const services = job.services.map(({ id }) => id).join(" ");
	const hasCollector = job.collector !== null;
	const tellsRun = job.driver.env.some(({ value }) => value === RUN_ID_VARIABLE);
	const [name, ...rest] = job.directives;
	const platform = PLATFORMS[job.platform];
	const directives = platform.directives(name ? [name, { key: "chdir", value: benchDir }, ...rest] : []);
	return `#!/bin/bash
# The job of ${job.address}, written by gymfile ${toolVersion}.
${directives === "" ? "" : `${directives}\n`}
${TRAPS}
gym_bench=${quote(benchDir)}
${tellsRun ? `gym_run_id=${quote(runId)}\n` : ""}gym_id=$SLURM_JOB_ID
cd "$gym_bench" && mkdir -p ${FOLDERS.join(" ")}${job.chain === null ? "" : ` ${CHAIN_FOLDERS.join(" ")}`} || exit 74
gym_orders=orders/$gym_id
gym_services=(${awaited(job)
		.map(({ id }) => id)
		.join(" ")})${hasCollector ? ' gym_collector=""' : ""}
declare -A gym_pid=()

${frame({ settle: job.chain === null ? "rm -f .env" : "settle", collector: hasCollector })}

${[platform.functions, ...collectorFunctions(job), ...chainFunctions(job, platform)].join("\n\n")}

trap end EXIT
${setUp(job)}

${[serviceFunctions(job, platform), driverFunctions(job, platform)].filter((part) => part !== "").join("\n\n")}

${healthSection(job)}

${launchLines(job)}
${watch({
	onWarning: job.chain === null ? [] : ["queue_next"],
	// From now on the collector may die.
	onRun: hasCollector ? [`gym_services=(${services})`] : [],
	always: hasCollector ? ["if [[ $gym_running ]]; then watch_collector; fi"] : [],
})}
`;
}

/**
 * The files of one benchmark's job, for its owner alone: `job.sh`, `budget.json` when it is resumable,
 * `otel/collector.yaml` when it has a collector, and `command.sh` when it has a command.
 * @param options.runDir absolute path of the run directory on the cluster
 * @param options.toolVersion version named in the script
 */
export function renderJob(
	job: Job,
	options: { readonly runDir: string; readonly toolVersion: string },
): RenderedJob {
	const { program } = job.driver;
	const place = {
		benchDir: `${options.runDir}/${job.benchmark}`,
		runId: options.runDir.slice(options.runDir.lastIndexOf("/") + 1),
	};
	const text = script(job, place, options.toolVersion);
	const files = new Map([["job.sh", { text, mode: 0o600 }]]);
	if (job.chain !== null) files.set("budget.json", { text: budgetText(job.chain), mode: 0o600 });
	if (job.collector !== null) {
		files.set("otel/collector.yaml", { text: collectorConfig(job.collector, place), mode: 0o600 });
	}
	if (program.kind === "command") files.set(COMMAND_FILE, { text: program.text, mode: 0o600 });
	return { files };
}
