/** Runs a rendered job on this machine, with small programs in the place of the cluster's. */
import { execFile } from "node:child_process";
import {
	chmodSync,
	chownSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Job } from "../../src/job/model.ts";
import { renderJob } from "../../src/job/render.ts";
import { secretsFile } from "../../src/job/secrets.ts";

const KEEP = `keep() { # NAME ARGUMENT...: what a program was given
	local name=$1; shift
	if (($# > 0)); then printf '%s\\0' "$@"; fi >"$STAND_IN/$name.args"
	env -0 >"$STAND_IN/$name.env"
	: >"$STAND_IN/$name.seen"
}`;

const PROGRAMS: Readonly<Record<string, string>> = {
	srun: `step=other
for word; do case $word in --job-name=*) step=\${word#*=} ;; esac; done
keep "srun-$step" "$@"
printf '%s\\n' "$$" >>"$STAND_IN/pids"
while [[ $1 == -* ]]; do shift; done
[[ \${IMAGE_ENV-} ]] && export "$IMAGE_ENV"
exec "$@"`,
	vllm: 'keep vllm "$@"\n[[ ! ${VLLM_EXIT-} ]] || exit "$VLLM_EXIT"\nexec /bin/sleep 60',
	gym: 'keep "gym-$2" "$@"\n[[ ! ${GYM_WAIT-} || $2 != run ]] || exec /bin/sleep 60\nexit "${GYM_EXIT:-0}"',
	harness: 'keep harness "$@"',
	curl: "[[ ! ${SILENT-} && -e $STAND_IN/vllm.seen ]]",
	scontrol: `[[ $2 == hostnames ]] && exec printf '%s\\n' n1 n2 n3
[[ \${JOB_STATE-} ]] || { echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1; }
printf 'JobId=%s JobName=x\\n   JobState=%s Reason=None\\n   RunTime=%s TimeLimit=00:10:00\\n' "$3" "$JOB_STATE" "\${JOB_TIME:-00:01:40}"`,
	sacct: `[[ \${ACCOUNTED-} ]] && printf '%s\\n' "$ACCOUNTED"; exit "\${ACCOUNTING_EXIT:-0}"`,
	sbatch:
		'keep sbatch "$@"\necho x >>"$STAND_IN/sbatch.times"\n[[ ! ${STOP_MEANWHILE-} ]] || echo stop >>control\n[[ ${QUEUE_SAYS-} ]] || exit 1\nprintf "%s\\n" "$QUEUE_SAYS"',
	squeue: `[[ $1 == -s ]] && exec printf '%s\\n' '77.0|speaker' '77.batch|batch'
[[ \${QUEUED-} ]] && printf '%s\\n' "\${QUEUED//@/$PWD}"; exit 0`,
	scancel:
		'printf "%s\\n" "$*" >>"$STAND_IN/scancel.log"\nkeep scancel "$@"\n[[ $1 == --signal* ]] || exit 0\nwhile read -r pid; do kill -TERM "$pid" 2>/dev/null; done <"$STAND_IN/pids"\nexit 0',
	getent: "printf '%s STREAM n1\\n' 127.0.1.1 10.0.0.1 10.0.0.2",
	sleep: "exec /bin/sleep 0.02",
};

/** What the job did. */
export interface Ran {
	readonly code: number;
	readonly stderr: string;
	/** How often sbatch was called. */
	readonly submits: number;
	/** Arguments of every scancel. */
	readonly cancels: readonly string[];
	/** Arguments of a program's last start; null when it never started. */
	args(program: string): readonly string[] | null;
	/** Its environment. */
	env(program: string): ReadonlyMap<string, string>;
	/** A file of the benchmark's directory; null when there is none. */
	file(name: string): string | null;
}

/** How to run it. */
export interface RunOptions {
	/** The job's environment. */
	readonly env?: Readonly<Record<string, string>>;
	/** Values of the submitting shell's variables. */
	readonly host?: ReadonlyMap<string, string>;
	/** Id of the job that this one follows: the script's argument. */
	readonly previous?: string;
	/** Files of the benchmark's directory before the start. */
	readonly files?: Readonly<Record<string, string>>;
	/** A file of the benchmark's directory that belongs to another user. */
	readonly foreign?: string;
	/** Called once the program was started, with the batch script's process id. */
	readonly whenRunning?: (pid: number) => void;
}

const split = (path: string) =>
	existsSync(path) ? readFileSync(path, "utf8").split("\0").slice(0, -1) : null;

/** Runs `job` to its end. */
export async function runJob(job: Job, options: RunOptions = {}): Promise<Ran> {
	const root = mkdtempSync(join(tmpdir(), "gymfile-job-"));
	const bench = join(root, job.benchmark);
	const state = join(root, "state");
	for (const folder of [bench, state, join(root, "bin")]) mkdirSync(folder);
	for (const [name, body] of Object.entries(PROGRAMS)) {
		writeFileSync(join(root, "bin", name), `#!/bin/bash\n${KEEP}\n${body}\n`, { mode: 0o755 });
	}
	const { files } = renderJob(job, { runDir: root, toolVersion: "1.2.3" });
	for (const [name, { text, mode }] of files) {
		writeFileSync(join(bench, name), text);
		chmodSync(join(bench, name), mode);
	}
	const secrets = secretsFile(job, (name) => options.host?.get(name) ?? "");
	if (secrets !== "") writeFileSync(join(bench, ".env"), secrets, { mode: 0o600 });
	for (const [name, text] of Object.entries(options.files ?? {})) {
		mkdirSync(dirname(join(bench, name)), { recursive: true });
		writeFileSync(join(bench, name), text);
	}
	if (options.foreign) chownSync(join(bench, options.foreign), 65534, 65534);
	try {
		const ended = await new Promise<{ code: number; stderr: string }>((done) => {
			const env = {
				PATH: `${join(root, "bin")}:/usr/bin:/bin`,
				HOME: root,
				LANG: "C.UTF-8",
				SLURM_JOB_ID: "77",
				SLURM_JOB_NODELIST: "n[1-3]",
				STAND_IN: state,
				...options.env,
			};
			const child = execFile(
				"/bin/bash",
				[join(bench, "job.sh"), ...(options.previous === undefined ? [] : [options.previous])],
				{ env, cwd: bench },
				(error, _, stderr) => {
					clearInterval(look);
					done({ code: error ? Number(error.code ?? -1) : 0, stderr });
				},
			);
			const look = setInterval(() => {
				if (!existsSync(join(state, "gym-run.seen"))) return;
				clearInterval(look);
				options.whenRunning?.(child.pid!);
			}, 20);
		});
		const seen = new Map<string, { args: readonly string[] | null; env: readonly string[] }>();
		for (const name of [
			"vllm",
			"gym-run",
			"gym-prepare",
			"harness",
			"srun-speaker",
			"srun-driver",
			"scancel",
			"sbatch",
		]) {
			seen.set(name, {
				args: split(join(state, `${name}.args`)),
				env: split(join(state, `${name}.env`)) ?? [],
			});
		}
		const kept = new Map(
			readdirSync(bench, { recursive: true, withFileTypes: true })
				.filter((entry) => entry.isFile())
				.map((entry) => {
					const path = join(entry.parentPath, entry.name);
					return [path.slice(bench.length + 1), readFileSync(path, "utf8")];
				}),
		);
		const times = (name: string) =>
			existsSync(join(state, name)) ? readFileSync(join(state, name), "utf8").trim().split("\n") : [];
		const [submits, cancels] = [times("sbatch.times").length, times("scancel.log")];
		return {
			...ended,
			submits,
			cancels,
			args: (program) => seen.get(program)?.args ?? null,
			env: (program) =>
				new Map(
					(seen.get(program)?.env ?? []).map((line) => [
						line.slice(0, line.indexOf("=")),
						line.slice(line.indexOf("=") + 1),
					]),
				),
			file: (name) => kept.get(name) ?? null,
		};
	} finally {
		rmSync(root, { recursive: true, force: true });
	}
}
