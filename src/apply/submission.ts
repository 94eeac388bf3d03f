/** From planned actions to what the cluster is asked to submit. Pure: values of variables come in. */
import {
	type AddressRecord,
	isLive,
	type RunRecord,
	runsOf,
	type Segment,
	type StateDocument,
} from "../../state/document.ts";
import { UNUSED } from "../chain/counters.ts";
import { lastOfChain } from "../chain/resume.ts";
import { jobState } from "../cluster/job-state.ts";
import type { JobRequest, StagedFile, Submission } from "../cluster/scheduler.ts";
import { GymError, type Problem } from "../errors.ts";
import type { EnvEntry } from "../job/model.ts";
import { renderJob } from "../job/render.ts";
import { secretsFile } from "../job/secrets.ts";
import type { DesiredJob } from "../plan/desired.ts";
import { writeDocument } from "../plan/document-text.ts";
import type { GoOn } from "../plan/plan.ts";
import type { ComputeConfig, SubmitConfig } from "../submit/config.ts";
import { parseDuration } from "../submit/duration.ts";
import { emitYaml, toPlain } from "../submit/emit.ts";
import { mountSource, parts } from "../submit/parts.ts";

/** Value of a variable in the submitting shell. */
export type HostEnv = (name: string) => string | undefined;

/** Version of NeMo Gym whose records and configurations we write. */
const GYM_VERSION = "0.7.0";

/** A new run directory's name, e.g. `gym-job-20261130T134455Z-9f31c2`. */
export function newRunId(now: Date, randomHex: string): string {
	return `gym-job-${now.toISOString().replaceAll(/[-:]|\.\d+/g, "")}-${randomHex}`;
}

/** The intent: what the state says before anything is asked of the cluster. */
export function intentOf(desired: DesiredJob, runDir: string): RunRecord {
	return {
		runDir,
		runId: runDir.slice(runDir.lastIndexOf("/") + 1),
		jobDir: `${runDir}/${desired.benchmark}`,
		fingerprint: desired.fingerprint,
		submittedBy: null,
		status: "submitting",
		note: null,
		segments: [],
		chain: desired.limits && { ...UNUSED, budget: desired.limits },
		error: null,
		progress: null,
		rendered: desired.rendered,
		document: writeDocument(desired.document),
	};
}

/** Names of the forwarded variables; jobs of this machine inherit its environment as it is. */
function forwardNames(config: SubmitConfig): readonly string[] {
	const [compute] = config.compute.values();
	return compute?.type === "slurm" ? compute.forward_env : [];
}

/**
 * The values that go into sbatch's environment.
 * @throws GymError exit `invalid`, code `forward-env-unset`, one problem for each missing variable
 */
export function forwardedValues(config: SubmitConfig, hostEnv: HostEnv): ReadonlyMap<string, string> {
	const [name] = config.compute.keys();
	const { otel } = config;
	const wanted = [
		...forwardNames(config).map((variable) => ({
			variable,
			at: `compute.${name}.forward_env`,
			mayBeEmpty: true,
		})),
		...(otel.enabled ? [{ variable: otel.token_env, at: "otel.token_env", mayBeEmpty: false }] : []),
	];
	const missing = wanted.filter(({ variable, mayBeEmpty }) => {
		const value = hostEnv(variable);
		return value === undefined || (value === "" && !mayBeEmpty);
	});
	if (missing.length > 0) {
		throw new GymError(
			"invalid",
			missing.map(
				({ variable, at }): Problem => ({
					code: "forward-env-unset",
					severity: "error",
					at,
					message: `${variable} is to be forwarded, but is not set in this shell; nothing was staged`,
					remedy: `export ${variable}=…`,
				}),
			),
		);
	}
	return new Map(wanted.map(({ variable }) => [variable, hostEnv(variable)!]));
}

/** What programs need to run at all; a job keeps it even when `host:` names it too. */
const SESSION = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TERM|TMPDIR|LD_LIBRARY_PATH|SLURM_\w+)$/;

/**
 * Variables that `host:` hands to single steps. When sbatch runs on this machine the jobs would inherit them, and
 * Slurm's accounting may keep a job's environment. Those that the document wants in it anyway are not withheld.
 */
function withheldVariables(config: SubmitConfig, desired: readonly DesiredJob[]): readonly string[] {
	const entries = desired.flatMap(({ job }) => [...job.services, job.driver].flatMap((step) => step.env));
	const named = (kind: EnvEntry["kind"]) => entries.flatMap((one) => (one.kind === kind ? [one.value] : []));
	const wanted = new Set([...forwardNames(config), ...named("runtime")]);
	return [...new Set(named("host"))].filter((name) => !wanted.has(name) && !SESSION.test(name));
}

/** Bind-mount sources of all services and the driver, each once; a local compute has no containers to mount into. */
export function mountSources(config: SubmitConfig): readonly string[] {
	if ([...config.compute.values()][0]?.type === "local") return [];
	return [...new Set(parts(config).flatMap(({ part }) => part.mounts.map(mountSource)))];
}

/** Seconds; null for no limit, which Slurm also writes as 0. */
function timeLimit({ walltime }: ComputeConfig): number | null {
	const seconds = walltime === null ? null : parseDuration(walltime);
	return seconds && Number.isFinite(seconds) ? seconds : null;
}

/** What one run directory's exchange is asked to do. */
export function submissionOf(
	config: SubmitConfig,
	state: StateDocument,
	desired: readonly DesiredJob[],
	runDir: string,
	context: {
		toolVersion: string;
		hostEnv: HostEnv;
		forward: ReadonlyMap<string, string>;
		/** By benchmark: how runs are gone on with in their directory. */
		goOn: ReadonlyMap<string, GoOn>;
	},
): Submission {
	const [name, compute] = [...config.compute][0]!;
	const runId = runDir.slice(runDir.lastIndexOf("/") + 1);
	const members = membersOf(state, runDir);
	return {
		stack: state.stack,
		runDir,
		benchmarks: [...members.keys()],
		outputPath: state.cluster!.outputPath,
		files: new Map([["resolved-config.yaml", { text: emitYaml(toPlain(config)), mode: 0o644 }]]),
		record: {
			gymJobId: runId,
			gymVersion: GYM_VERSION,
			cluster: name,
			executor: compute.type,
			hostname: state.cluster!.hostname,
			metadata: {
				gymfile_stack: state.stack,
				gymfile_lineage: state.lineage,
				gymfile_fingerprints: JSON.stringify(Object.fromEntries(members)),
			},
		},
		jobs: desired.map((one) => {
			const record = state.benchmarks.get(one.benchmark)!;
			return jobRequest(one, record, runDir, context);
		}),
		knownDirs: allRuns(state).map(({ run }) => run.jobDir),
		mountSources: mountSources(config),
		walltime: timeLimit(compute),
		forward: context.forward,
		withheld: withheldVariables(config, desired),
	};
}

function allRuns({ benchmarks }: StateDocument) {
	return [...benchmarks].flatMap(([benchmark, record]) => runsOf(record).map((run) => ({ benchmark, run })));
}

/** The benchmarks of a run directory with their fingerprints: those of this exchange and of earlier ones. */
function membersOf(state: StateDocument, runDir: string): ReadonlyMap<string, string> {
	return new Map(
		allRuns(state)
			.filter(({ run }) => run.runDir === runDir)
			.map(({ benchmark, run }) => [benchmark, run.fingerprint]),
	);
}

/** Directories of runs that may still have jobs. */
export function liveDirs(runs: readonly RunRecord[]): readonly string[] {
	return runs.filter((run) => isLive(run.status)).map((run) => run.jobDir);
}

function isOver({ endedAt, state }: Segment): boolean {
	return endedAt !== null || (state !== null && jobState(state).final);
}

function jobRequest(
	desired: DesiredJob,
	record: AddressRecord,
	runDir: string,
	context: { toolVersion: string; hostEnv: HostEnv; goOn: ReadonlyMap<string, GoOn> },
): JobRequest {
	// Earlier attempts in the same directory are over: their ids are not taken for the new one's.
	const earlier = record.current!.segments.filter(isOver);
	const knownIds = earlier.map((segment) => segment.jobId);
	const previous = desired.job.chain === null ? null : (lastOfChain(earlier)?.jobId ?? null);
	const goOn = context.goOn.get(desired.benchmark);
	const control = previous !== null && goOn?.decided ? `go-on ${previous}\n` : "";
	const job = knownIds.length > 0 ? desired.resumedJob : desired.job;
	const { files } = renderJob(job, { runDir, toolVersion: context.toolVersion });
	const secrets = secretsFile(desired.job, (variable) => context.hostEnv(variable) ?? "");
	// The stop mark is content of `control`, a file that always exists: NFS may cache that one is not there.
	const staged = new Map<string, StagedFile>([...files, ["control", { text: control, mode: 0o600 }]]);
	if (secrets !== "") staged.set(".env", { text: secrets, mode: 0o600 });
	return {
		benchmark: desired.benchmark,
		jobDir: `${runDir}/${desired.benchmark}`,
		files: staged,
		knownIds,
		previous,
		resetCounters: goOn?.resetCounters ?? false,
		replaces: liveDirs(record.history),
	};
}
