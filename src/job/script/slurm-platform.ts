/** Steps by srun in the one allocation, each in its container. */
import type { Job, Placement, StepBase } from "../model.ts";
import { directiveLines } from "./directives.ts";
import type { Platform, StepOptions } from "./platform.ts";
import { quote } from "./quote.ts";

const FUNCTIONS = `# Starts a step in the background: name of step and log, then the function that turns into its srun.
launch() {
	"$2" </dev/null >>"logs/$1-$gym_id.log" 2>&1 &
	gym_pid[$1]=$!
}

# TERM to every process of every step, a grace, then TERM to the sruns, which kills what is left.
stop_steps() {
	local i steps=()
	mapfile -t steps < <(squeue -s -h -j "$gym_id" -o %i | grep -vE '[.](batch|extern)$')
	((\${#steps[@]} == 0)) || scancel --signal=TERM "\${steps[@]}" 2>/dev/null
	for ((i = 0; i < 50; i++)); do
		any_alive || break
		sleep 0.2
	done
	kill -TERM "\${gym_pid[@]}" 2>/dev/null
	wait
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

/** Bash expression for the hosts of a placement, comma-joined. */
function hostList({ first, count }: Placement): string {
	return count === 1 ? `\${gym_hosts[${first}]}` : `$(hosts ${first} ${count})`;
}

function setUp(job: Job): string {
	const pools = job.pools.map(({ variable, hosts }) => `${variable}=$(hosts ${hosts.first} ${hosts.count})`);
	const exported = ["HEAD_NODE_IP", ...job.pools.map(({ variable }) => variable)];
	return [
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

/** A `--container-mounts` option; the driver also sees the benchmark's directory, at the same path. */
function mountsOption(mounts: readonly string[], benchDir: boolean): readonly string[] {
	const all = [...(benchDir ? ['"$gym_bench:$gym_bench"'] : []), ...mounts.map((mount) => quote(mount))];
	return all.length === 0 ? [] : [`--container-mounts=${all.join(",")}`];
}

function step({ id, hosts, container, mounts }: StepBase, { benchDir, command }: StepOptions): string {
	const { count } = hosts;
	return [
		`exec srun --overlap --job-name=${quote(id)}`,
		`--nodes=${count} --ntasks=${count} --ntasks-per-node=1 --nodelist="${hostList(hosts)}"`,
		`--no-container-mount-home --container-image=${quote(container)}`,
		...mountsOption(mounts, benchDir),
		command,
	].join(" \\\n\t\t");
}

/** Slurm with Pyxis. */
export const slurmPlatform: Platform = { directives: directiveLines, functions: FUNCTIONS, setUp, step };
