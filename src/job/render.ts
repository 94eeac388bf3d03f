/** From the job to its files. Pure: the run directory and the tool's version come in. */
import type { Job } from "./model.ts";
import { COMMAND_FILE, driverFunctions } from "./script/driver.ts";
import { FRAME, TRAPS, WATCH } from "./script/frame.ts";
import { healthSection } from "./script/health.ts";
import { localPlatform } from "./script/local-platform.ts";
import type { Platform } from "./script/platform.ts";
import { quote } from "./script/quote.ts";
import { slurmPlatform } from "./script/slurm-platform.ts";
import { serviceFunctions } from "./script/steps.ts";
import { secretReferences } from "./secrets.ts";

const PLATFORMS: Readonly<Record<Job["platform"], Platform>> = { slurm: slurmPlatform, local: localPlatform };

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
	return ["if stopped; then finish 0 stopped; fi", ...secrets, PLATFORMS[job.platform].setUp(job)].join("\n");
}

function launchLines(job: Job): string {
	const steps = [...job.services, job.driver];
	return [
		"note start",
		': >"$gym_orders"',
		...steps.map(({ id, word }) => `launch ${id} start_${word}`),
	].join("\n");
}

function script(job: Job, benchDir: string, toolVersion: string): string {
	const [name, ...rest] = job.directives;
	const platform = PLATFORMS[job.platform];
	const directives = platform.directives(name ? [name, { key: "chdir", value: benchDir }, ...rest] : []);
	return `#!/bin/bash
# The job of ${job.address}, written by gymfile ${toolVersion}.
${directives === "" ? "" : `${directives}\n`}
${TRAPS}
gym_bench=${quote(benchDir)}
gym_id=$SLURM_JOB_ID
cd "$gym_bench" && mkdir -p logs ends orders artifacts || exit 74
gym_orders=orders/$gym_id
gym_services=(${job.services.map(({ id }) => id).join(" ")})
declare -A gym_pid=()

${FRAME}

${platform.functions}

trap end EXIT
${setUp(job)}

${[serviceFunctions(job, platform), driverFunctions(job.driver, platform)].filter((part) => part !== "").join("\n\n")}

${healthSection(job)}

${launchLines(job)}
${WATCH}
`;
}

/**
 * The files of one benchmark's job, for its owner alone: `job.sh`, and `command.sh` when it has a command.
 * @param options.runDir absolute path of the run directory on the cluster
 * @param options.toolVersion version named in the script
 */
export function renderJob(
	job: Job,
	options: { readonly runDir: string; readonly toolVersion: string },
): RenderedJob {
	const { program } = job.driver;
	const text = script(job, `${options.runDir}/${job.benchmark}`, options.toolVersion);
	const files = new Map([["job.sh", { text, mode: 0o600 }]]);
	if (program.kind === "command") files.set(COMMAND_FILE, { text: program.text, mode: 0o600 });
	return { files };
}
