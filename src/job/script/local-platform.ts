/** Steps as process groups on this machine: bash alone, no srun, no curl, no containers. */
import type { JobVariable } from "../model.ts";
import type { Platform } from "./platform.ts";

const FUNCTIONS = `# Starts a step in the background, as a process group of its own: name of step and log, then its function.
launch() {
	set -m
	"$2" </dev/null >>"logs/$1-$gym_id.log" 2>&1 &
	gym_pid[$1]=$!
	set +m
}

# TERM to every process of every step, a grace, then KILL.
stop_steps() {
	local i name
	for name in "\${!gym_pid[@]}"; do
		[[ $name == "\${gym_unheard-}" ]] || kill -TERM -- "-\${gym_pid[$name]}" 2>/dev/null
	done
	for ((i = 0; i < 50; i++)); do
		any_alive || break
		sleep 0.2
	done
	for name in "\${!gym_pid[@]}"; do kill -KILL -- "-\${gym_pid[$name]}" 2>/dev/null; done
	wait
}

# TERM to the processes of one step.
stop_step() { kill -TERM -- "-\${gym_pid[$1]}" 2>/dev/null; }

# Asks a service: host, port, path.
probe() {
	local answer=""
	exec 3<>"/dev/tcp/$1/$2" || return
	printf 'GET %s HTTP/1.0\\r\\nHost: %s:%s\\r\\n\\r\\n' "$3" "$1" "$2" >&3
	read -r -t 5 answer <&3
	[[ $answer == HTTP/*' 2'* ]]
} 2>/dev/null`;

const CHAIN = `# Reads the registry: a predecessor's end is on record before its successor starts.
look_back() {
	local text=""
	gym_state="" gym_elapsed="" gym_forgotten=1
	[[ ! -r \${GYM_LOCAL_JOB%/*}/$1/end.json ]] || text=$(<"\${GYM_LOCAL_JOB%/*}/$1/end.json")
	if [[ $text =~ \\"startedAt\\":\\ *([0-9]+) ]]; then
		gym_elapsed=\${BASH_REMATCH[1]}
		[[ ! $text =~ \\"endedAt\\":\\ *([0-9]+) ]] || gym_elapsed=$((BASH_REMATCH[1] - gym_elapsed))
		((gym_elapsed >= 0)) || gym_elapsed=0 # the clock was set back
	fi
	[[ $text =~ \\"state\\":\\ *\\"([A-Z_]+)\\" ]] && gym_state=\${BASH_REMATCH[1]}
}

# Asked again, the supervisor finds what it queued before.
find_next() { submit_next; }
submit_next() { "$GYM_LOCAL_NODE" "$GYM_LOCAL_SUPERVISOR" next "$GYM_LOCAL_JOB" 2>>"logs/queue-$gym_id.err" </dev/null; }

# A successor ends by itself when this job has ended well.
drop_next() { :; }`;

const LOOPBACK = "127.0.0.1";

/** There is one host, and nothing but it. */
function variableOf(variable: JobVariable): string {
	if (variable.kind === "hosts") return `${variable.name}=${variable.hosts.count > 0 ? LOOPBACK : ""}`;
	return `${variable.name}=${LOOPBACK}${variable.port === null ? "" : `:${variable.port}`}`;
}

/** Processes of this machine. */
export const localPlatform: Platform = {
	directives: () => "",
	functions: FUNCTIONS,
	chain: CHAIN,
	address: () => LOOPBACK,
	setUp: ({ variables }) => `export ${variables.map(variableOf).join(" ")}`,
	step: (_step, { command }) => `exec ${command}`,
};
