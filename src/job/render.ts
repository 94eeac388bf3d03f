/** From the job to its files. Pure: the run directory and the tool's version come in. */
import type { Job } from "./model.ts";
import { directiveLines } from "./script/directives.ts";
import { COMMAND_FILE, driverFunctions } from "./script/driver.ts";
import { FRAME, TRAPS, WATCH } from "./script/frame.ts";
import { healthSection } from "./script/health.ts";
import { quote } from "./script/quote.ts";
import { hostList, serviceFunctions } from "./script/steps.ts";
import { secretReferences } from "./secrets.ts";

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
	const pools = job.pools.map(({ variable, hosts }) => `${variable}=$(hosts ${hosts.first} ${hosts.count})`);
	const exported = ["HEAD_NODE_IP", ...job.pools.map(({ variable }) => variable)];
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
		"if stopped; then finish 0 stopped; fi",
		...secrets,
		"export SLURM_EXPORT_ENV=ALL",
		'mapfile -t gym_hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")',
		`if ((\${#gym_hosts[@]} < ${job.nodes})); then`,
		`\techo "gym: the job has \${#gym_hosts[@]} nodes, not ${job.nodes}" >&2`,
		"\tfinish 74 hosts",
		"fi",
		...pools,
		`HEAD_NODE_IP=$(address "${hostList(job.driver.hosts)}")`,
		`export ${exported.join(" ")}`,
	].join("\n");
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
	const all = [name!, { key: "chdir", value: benchDir }, ...rest];
	return `#!/bin/bash
# The job of ${job.address}, written by gymfile ${toolVersion}.
${directiveLines(all)}

${TRAPS}
gym_bench=${quote(benchDir)}
gym_id=$SLURM_JOB_ID
cd "$gym_bench" && mkdir -p logs ends orders artifacts || exit 74
gym_orders=orders/$gym_id
gym_services=(${job.services.map(({ id }) => id).join(" ")})
gym_hosts=()
declare -A gym_pid=()

${FRAME}

trap end EXIT
${setUp(job)}

${[serviceFunctions(job), driverFunctions(job.driver)].filter((part) => part !== "").join("\n\n")}

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
