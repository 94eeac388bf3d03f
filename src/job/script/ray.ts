/** Bash text of steps that start Ray nodes. */

/** Port of the Ray cluster that a vLLM service makes for itself. */
export const RAY_PORT = 6379;

/** Seconds that nodes may take to join, and the limit on waiting for a head. */
const JOIN_SECONDS = 600;

/** `head_answers ADDRESS`: waits for the head of a Ray cluster. */
export const RAY_HEAD_ANSWERS = `head_answers() {
	local since=$SECONDS
	until ray status --address="$1" >/dev/null 2>&1; do
		if ((SECONDS - since > ${JOIN_SECONDS})); then
			echo "gym: the head of the Ray cluster at $1 does not answer" >&2
			return 1
		fi
		sleep 2
	done
}`;

/** Ray for an image that lacks it. */
export const RAY_INSTALL = "command -v ray >/dev/null || pip install 'ray[default]' || exit";

/**
 * The bash function `in_cluster HEAD NODES COMMAND…`: runs the command on the first node of the step, in a Ray cluster
 * over all of its nodes. Newer versions of Ray do that themselves.
 */
export const IN_CLUSTER = `${RAY_HEAD_ANSWERS}
in_cluster() {
	local head=$1:${RAY_PORT} nodes=$2 resources=()
	local cpus=\${SLURM_CPUS_PER_TASK:-\${SLURM_CPUS_ON_NODE-}} gpus=\${SLURM_GPUS_PER_TASK:-\${SLURM_GPUS_ON_NODE-}}
	shift 2
	[[ ! $cpus ]] || resources+=(--num-cpus "$cpus")
	[[ ! $gpus ]] || resources+=(--num-gpus "$gpus")
	export RAY_SYMMETRIC_RUN_CLUSTER_WAIT_TIMEOUT=${JOIN_SECONDS}
	if ray symmetric-run --help >/dev/null 2>&1; then
		exec ray symmetric-run --address "$head" --min-nodes "$nodes" "\${resources[@]}" -- "$@"
	fi
	if ((SLURM_PROCID > 0)); then
		head_answers "$head" || exit
		exec ray start --address "$head" "\${resources[@]}" --block
	fi
	ray start --head --port ${RAY_PORT} "\${resources[@]}" || exit
	exec "$@"
}`;
