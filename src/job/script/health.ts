/** The wait for the services: all are asked side by side, each within the time that the document gives it. */
import type { Job } from "../model.ts";
import { quote } from "./quote.ts";
import { awaited } from "./steps.ts";

const HEALTHY = `# Asks services side by side; gym_silent is then who did not answer.
ask() {
	local service
	local -A asking=()
	for service; do
		probe "\${gym_host[$service]}" "\${gym_port[$service]}" "\${gym_path[$service]}" &
		asking[$service]=$!
	done
	gym_silent=()
	for service; do
		if wait "\${asking[$service]}"; then
			gym_since[$service]=""
		else
			gym_silent+=("$service")
		fi
	done
}

# True when every service has answered, and all of them do in one more look. The time of a service runs from
# the first look that finds it silent and everything declared before it healthy.
declare -A gym_since=()
gym_silent=("\${gym_checked[@]}")
healthy() {
	local now begun first
	ask "\${gym_silent[@]}"
	((\${#gym_silent[@]} > 0)) || ask "\${gym_checked[@]}"
	((\${#gym_silent[@]} > 0)) || return 0
	first=\${gym_silent[0]}
	now=$(date +%s)
	begun=\${gym_since[$first]:-$now}
	gym_since[$first]=$begun
	((now - begun < gym_patience[$first])) || finish 1 unhealthy "$first" "did not become healthy in time"
	return 1
}`;

/** The table of health checks, and the function that asks. Services on the batch script's node are local to it. */
export function healthSection(job: Job): string {
	const checked = awaited(job).flatMap(({ id, health }) => (health === null ? [] : [{ id, ...health }]));
	const host = ({ node }: (typeof checked)[number]) =>
		node === 0 ? "localhost" : `"\${gym_hosts[${node}]}"`;
	const table = (entry: (c: (typeof checked)[number]) => string) =>
		checked.map((c) => `\n\t[${c.id}]=${entry(c)}`).join("") + (checked.length > 0 ? "\n" : "");
	return `# Health checks: where to ask, and seconds to wait.
gym_checked=(${checked.map(({ id }) => id).join(" ")})
declare -A gym_host=(${table(host)})
declare -A gym_port=(${table(({ port }) => String(port))})
declare -A gym_path=(${table(({ path }) => quote(path))})
declare -A gym_patience=(${table(({ timeout }) => String(timeout))})

${HEALTHY}`;
}
