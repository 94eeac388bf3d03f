/** Steps by srun in the one allocation, each in its container. */
import type { Job, JobVariable, Placement, StepBase } from "../model.ts";
import { directiveLines } from "./directives.ts";
import type { Platform, StepOptions } from "./platform.ts";
import { quote } from "./quote.ts";
import { SBATCH_ANSWER } from "./sbatch-answer.ts";

const FUNCTIONS = `# Starts a step in the background: name of step and log, then the function that turns into its srun.
launch() {
	"$2" </dev/null >>"logs/$1-$gym_id.log" 2>&1 &
	gym_pid[$1]=$!
}

# TERM to every process of every step, a grace, then TERM to the sruns, which kills what is left.
stop_steps() {
	local i step name steps=()
	while IFS='|' read -r step name; do
		case $step in
		*.batch | *.extern) ;;
		*) [[ $name == "\${gym_unheard-}" ]] || steps+=("$step") ;;
		esac
	done < <(squeue -s -h -j "$gym_id" -o '%i|%j')
	((\${#steps[@]} == 0)) || scancel --signal=TERM "\${steps[@]}" 2>/dev/null
	for ((i = 0; i < 50; i++)); do
		any_alive || break
		sleep 0.2
	done
	kill -TERM "\${gym_pid[@]}" 2>/dev/null
	wait
}

# TERM to the processes of one step: its srun would kill them.
stop_step() {
	local step name
	while IFS='|' read -r step name; do
		[[ $name != "$1" ]] || scancel --signal=TERM "$step" 2>/dev/null
	done < <(squeue -s -h -j "$gym_id" -o '%i|%j')
}

# Asks a service: host, port, path.
probe() {
	curl --silent --fail --globoff --noproxy '*' --max-time 5 --output /dev/null "http://$1:$2$3"
}

# The comma-joined hosts of a range of nodes: first, count.
hosts() {
	local IFS=,
	printf '%s' "\${gym_hosts[*]:$1:$2}"
}

# One address of a host that other hosts can use.
address() {
	local ip rest
	while read -r ip rest; do
		if [[ $ip != 127.* ]]; then
			printf '%s' "$ip"
			return
		fi
	done < <(getent ahostsv4 "$1")
	printf '%s' "$1"
}`;

const CHAIN = `# Asks the controller, which knows at once but forgets, then the accounting, which lags.
look_back() {
	local line said
	gym_state="" gym_elapsed="" gym_forgotten=""
	if said=$(scontrol show job "$1" 2>&1); then
		while read -r line; do
			if [[ ! $gym_state && $line =~ ^JobState=([A-Z_]+) ]]; then gym_state=\${BASH_REMATCH[1]}; fi
			if [[ $line =~ ^RunTime=(([0-9]+)-)?([0-9]+):([0-9]+):([0-9]+) ]]; then
				gym_elapsed=$((((10#0\${BASH_REMATCH[2]} * 24 + 10#\${BASH_REMATCH[3]}) * 60 + 10#\${BASH_REMATCH[4]}) * 60 + 10#\${BASH_REMATCH[5]}))
			fi
		done <<<"$said"
		if is_final; then return; fi
	elif [[ $said == *'Invalid job id'* ]]; then
		gym_forgotten=1
	fi
	command -v sacct >/dev/null || return
	if ! said=$(sacct -X -n -P -S 2010-01-01 -j "$1" -o state,elapsedraw 2>&1); then
		[[ $said == *disabled* ]] || gym_forgotten=""
		return 1
	fi
	gym_forgotten=""
	line=\${said##*$'\\n'}
	gym_state=\${line%%[ |]*} gym_elapsed=""
	if [[ $line =~ \\|([0-9]+)$ ]]; then gym_elapsed=\${BASH_REMATCH[1]}; fi
	is_final
}

is_final() {
	case $gym_state in
	'' | PENDING | CONFIGURING | RUNNING | SUSPENDED | STOPPED | SIGNALING | STAGE_OUT | COMPLETING | RESIZING | REQUEUE*) return 1 ;;
	esac
}

find_next() {
	local id state dir
	while IFS='|' read -r id state dir; do
		if [[ $dir == "$gym_bench" && $id != "$gym_id" && $state == PENDING ]]; then
			printf '%s' "$id"
			return
		fi
	done < <(squeue -h -a -t all -u "$(id -un)" -o '%A|%T|%Z' 2>/dev/null)
}

${SBATCH_ANSWER}

submit_next() (
	unset "\${!SBATCH_@}" SLURM_RESTART_COUNT # they would beat the script's directives; the successor is no restart
	said=$(sbatch --parsable --chdir="$gym_bench" --dependency="afternotok:$gym_id" --kill-on-invalid-dep=yes \\
		"$gym_bench/job.sh" "$gym_id" 2>>"logs/queue-$gym_id.err" </dev/null)
	said=$(answer "$said" "")
	printf '%s' "\${said%% *}"
)

drop_next() { scancel "$1"; }`;

/** Bash expression for the hosts of a placement, comma-joined. */
function hostList({ first, count }: Placement): string {
	return count === 1 ? `\${gym_hosts[${first}]}` : `$(hosts ${first} ${count})`;
}

/** Bash expression, for double quotes, of a node's address. */
const addressOf = (node: number) => `$(address "\${gym_hosts[${node}]}")`;

function variableLine(variable: JobVariable): string {
	if (variable.kind === "hosts")
		return `${variable.name}=$(hosts ${variable.hosts.first} ${variable.hosts.count})`;
	const { name, node, port } = variable;
	return `${name}="${addressOf(node)}${port === null ? "" : `:${port}`}"`;
}

function setUp(job: Job): string {
	return [
		"export SLURM_EXPORT_ENV=ALL",
		'mapfile -t gym_hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")',
		`if ((\${#gym_hosts[@]} < ${job.nodes})); then`,
		`\techo "gym: the job has \${#gym_hosts[@]} nodes, not ${job.nodes}" >&2`,
		"\tfinish 74 hosts",
		"fi",
		...job.variables.map(variableLine),
		`export ${job.variables.map(({ name }) => name).join(" ")}`,
	].join("\n");
}

/** A `--container-mounts` option; the driver also sees the benchmark's directory, at the same path. */
function mountsOption(mounts: readonly string[], benchDir: boolean): readonly string[] {
	const all = [...(benchDir ? ['"$gym_bench:$gym_bench"'] : []), ...mounts.map((mount) => quote(mount))];
	return all.length === 0 ? [] : [`--container-mounts=${all.join(",")}`];
}

/** Pyxis' options; none for a step on the node itself. */
function containerOptions(
	{ container, mounts }: StepBase,
	benchDir: StepOptions["benchDir"],
): readonly string[] {
	if (container === null) return [];
	return [
		`--no-container-mount-home --container-image=${quote(container)}`,
		...mountsOption(mounts, benchDir !== "hidden"),
		...(benchDir === "working" ? ['--container-workdir="$gym_bench"'] : []),
	];
}

function step(base: StepBase, { benchDir, hidesGpus, command }: StepOptions): string {
	const { id, hosts } = base;
	const { count } = hosts;
	return [
		`exec srun --overlap --job-name=${quote(id)}`,
		`--nodes=${count} --ntasks=${count} --ntasks-per-node=1${count > 1 ? " --kill-on-bad-exit=1 --wait=5" : ""} --nodelist="${hostList(hosts)}"${hidesGpus ? " --gpus-per-node=0" : ""}`,
		...containerOptions(base, benchDir),
		command,
	].join(" \\\n\t\t");
}

/** Slurm with Pyxis. */
export const slurmPlatform: Platform = {
	directives: directiveLines,
	functions: FUNCTIONS,
	chain: CHAIN,
	address: addressOf,
	setUp,
	step,
};
