/** The collector in the text of a job: it is awaited like a service, but its death never ends a run. */
import type { Job } from "../model.ts";

/** Functions of a job with a collector; `stop_step` is the platform's. */
export function collectorFunctions({ collector }: Job): readonly string[] {
	if (collector === null) return [];
	const { id } = collector.step;
	return [
		`# Says once that the collector has died; the run goes on.
watch_collector() {
	if [[ ! $gym_collector ]] && ! alive ${id}; then
		gym_collector=died
		note collector
		echo "gym: the collector has ended; its log is logs/${id}-$gym_id.log; the run goes on" >&2
	fi
}

# After the driver the collector sees the last numbers once more, and is asked to send what it has. One that never
# answered has nothing to send.
stop_collector() {
	local i
	alive ${id} || return 0
	if [[ " \${gym_silent[*]} " == *" ${id} "* ]]; then
		gym_unheard=${id}
		return
	fi
	case $gym_why in
	finished | driver | timeout) sleep ${collector.scrapeInterval} ;;
	esac
	stop_step ${id}
	for ((i = 0; i < 150; i++)); do
		alive ${id} || return 0
		sleep 0.2
	done
}`,
	];
}
