/**
 * The frame of a segment: traps, records, the one way to end, and the watch over the steps. Names begin with
 * `gym_`, because a variable of the job's environment keeps its own name and value for `runtime:`.
 */

/** First lines of the script. A signal that comes before its trap would kill the script. */
export const TRAPS = `gym_warned="" gym_why="" gym_name=""
trap gym_warned=1 USR1
trap 'gym_why=\${gym_why:-terminated}; exit 143' TERM`;

/**
 * Functions of every segment.
 * @param options.settle what becomes of the chain, and of the file with secrets, when the segment ends
 * @param options.collector the job has one: its end is on record, and it is stopped by itself
 */
export function frame({
	settle,
	collector,
}: {
	readonly settle: string;
	readonly collector: boolean;
}): string {
	return `# Adds an event to the chain's journal: its name, and more of the JSON object. The time comes from the shell itself:
# the scheduler's TERM would kill a program that tells it.
note() {
	printf '{"job":%s,"at":%(%s)T,"event":"%s"%s}\\n' "$gym_id" -1 "$1" "\${2-}" >>chain.jsonl
}

# Ends the job: exit code, reason (one word), the service that it is about, and what to say.
finish() {
	gym_why=$2 gym_name=\${3-}
	if [[ $gym_name ]]; then
		printf 'gym: the service %s %s; its log is logs/%s-%s.log\\n' "$gym_name" "\${4-}" "$gym_name" "$gym_id" >&2
	fi
	exit "$1"
}

alive() { kill -0 "\${gym_pid[$1]}" 2>/dev/null; }

any_alive() {
	local name
	for name in "\${!gym_pid[@]}"; do if alive "$name"; then return 0; fi; done
	return 1
}

# Runs on every exit. The records come before anything slow: the scheduler may be about to kill the script.
end() {
	local code=$?
	trap '' USR1 TERM INT
	trap - EXIT
	gym_why=\${gym_why:-error}
	printf 'exit=%s why=%s at=%s elapsed=%s${collector ? " collector=%s" : ""} name=%s\\n' "$code" "$gym_why" "$(date +%s)" "$SECONDS" ${collector ? '"${gym_collector:-ok}" ' : ""}"$gym_name" >"ends/$gym_id.new" &&
		mv "ends/$gym_id.new" "ends/$gym_id"
	note end ",\\"exit\\":$code,\\"why\\":\\"$gym_why\\",\\"name\\":\\"$gym_name\\""
	${settle}${collector ? "\n\tstop_collector" : ""}
	if any_alive; then stop_steps; fi
	exit "$code"
}

# The mark of a cancelled chain is content of a file that always exists.
stopped() { [[ -r control && $(<control) == *stop* ]]; }

# A pause that a signal ends at once.
pause() {
	sleep "$1" &
	wait "$!"
}

# Ends the job when a service has died.
check_services() {
	local service
	for service in "\${gym_services[@]}"; do
		alive "$service" || finish 1 service "$service" "has ended"
	done
}`;
}

/**
 * From the first step to the end of the driver.
 * @param options.onWarning what else is done when the time limit is near
 * @param options.onRun what else is done when the run begins
 * @param options.always what else is looked at while it runs
 */
export function watch(options: {
	readonly onWarning: readonly string[];
	readonly onRun: readonly string[];
	readonly always: readonly string[];
}): string {
	const { onWarning, onRun, always } = options;
	const lines = (texts: readonly string[], indent: string) =>
		texts.map((text) => `\n${indent}${text}`).join("");
	return `gym_running="" gym_stop_by=""
while alive driver; do
	check_services${lines(always, "\t")}
	if [[ $gym_warned && ! $gym_stop_by ]]; then
		# The time limit is near: whatever the driver returns now, the segment ends as a timeout.
		printf 'stop\\n' >>"$gym_orders"
		gym_why=timeout gym_stop_by=$(($(date +%s) + 90))
		note warning${lines(onWarning, "\t\t")}
	fi
	if [[ $gym_stop_by ]]; then
		(($(date +%s) < gym_stop_by)) || finish 85 timeout
	elif [[ ! $gym_running ]] && healthy; then
		check_services
		note run
		printf 'run\\n' >>"$gym_orders"
		gym_running=1${lines(onRun, "\t\t")}
	fi
	pause 1
done
wait "\${gym_pid[driver]}"
gym_code=$?
if [[ $gym_stop_by ]]; then
	gym_why=timeout gym_code=85
elif ((gym_code == 0)); then
	gym_why=finished
else
	check_services
	gym_why=driver
fi
(exit "$gym_code") # the last status is what \`end\` passes on
`;
}
