/** The wait for the services: all are asked side by side, each within the time that the document gives it. */
import type { Job } from "../model.ts";
import { quote } from "./quote.ts";

const HEALTHY = `# Asks all services side by side. True when every one answers in the same look. The time of a service runs
# from the first look that finds it silent and everything declared before it healthy.
declare -A gym_since=()
healthy() {
	local service now begun first=""
	local -A asking=()
	for service in "\${gym_checked[@]}"; do
		curl --silent --fail --globoff --noproxy '*' --max-time 5 --output /dev/null "\${gym_url[$service]}" &
		asking[$service]=$!
	done
	for service in "\${gym_checked[@]}"; do
		if wait "\${asking[$service]}"; then
			gym_since[$service]=""
		elif [[ ! $first ]]; then
			first=$service
		fi
	done
	[[ $first ]] || return 0
	now=$(date +%s)
	begun=\${gym_since[$first]:-$now}
	gym_since[$first]=$begun
	((now - begun < gym_patience[$first])) || finish 1 unhealthy "$first" "did not become healthy in time"
	return 1
}`;

/** The table of health checks, and the function that asks. Services on the batch script's node are local to it. */
export function healthSection(job: Job): string {
	const checked = job.services.flatMap(({ id, health }) => (health === null ? [] : [{ id, ...health }]));
	const url = ({ node, port, path }: (typeof checked)[number]) => {
		const host = node === 0 ? "localhost" : `\${gym_hosts[${node}]}`;
		return `"http://${host}:${port}"${quote(path)}`;
	};
	const table = (entry: (c: (typeof checked)[number]) => string) =>
		checked.map((c) => `\n\t[${c.id}]=${entry(c)}`).join("") + (checked.length > 0 ? "\n" : "");
	return `# Health checks: address, and seconds to wait.
gym_checked=(${checked.map(({ id }) => id).join(" ")})
declare -A gym_url=(${table(url)})
declare -A gym_patience=(${table(({ timeout }) => String(timeout))})

${HEALTHY}`;
}
