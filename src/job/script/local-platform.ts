/** Steps as process groups on this machine: bash alone, no srun, no curl, no containers. */
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
	for name in "\${!gym_pid[@]}"; do kill -TERM -- "-\${gym_pid[$name]}" 2>/dev/null; done
	for ((i = 0; i < 50; i++)); do
		any_alive || break
		sleep 0.2
	done
	for name in "\${!gym_pid[@]}"; do kill -KILL -- "-\${gym_pid[$name]}" 2>/dev/null; done
	wait
}

# Asks a service: host, port, path.
probe() {
	local answer=""
	exec 3<>"/dev/tcp/$1/$2" || return
	printf 'GET %s HTTP/1.0\\r\\nHost: %s:%s\\r\\n\\r\\n' "$3" "$1" "$2" >&3
	read -r -t 5 answer <&3
	[[ $answer == HTTP/*' 2'* ]]
} 2>/dev/null`;

/** Processes of this machine. */
export const localPlatform: Platform = {
	directives: () => "",
	functions: FUNCTIONS,
	setUp: () => "export HEAD_NODE_IP=127.0.0.1",
	step: (_step, { command }) => `exec ${command}`,
};
