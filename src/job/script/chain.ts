/**
 * Resume chains: a segment claims its predecessor, looks how that one ended, counts, decides, and queues its own
 * successor before it works. So a chain lives on the cluster with no one watching.
 */
import type { Job } from "../model.ts";

/** Files that steer a segment; it refuses them when they are another user's. */
const STEERING = "control budget.json .env .gym_infra_retries .gym_accumulated_walltime .gym_idle_timeouts";

/** The check of every segment, resumable or not. */
export const OWNERSHIP = `for gym_file in ${STEERING}; do
	if [[ -e $gym_file && ! -O $gym_file ]]; then
		printf 'gym: %s belongs to another user\\n' "$gym_file" >&2
		finish 74 owner
	fi
done`;

/** Functions of a resumable segment. The platform's own: look_back, find_next, submit_next, drop_next. */
const FUNCTIONS = `# Queues the successor, once. An answer that was lost, or an earlier start of this job, may have queued it already.
gym_tried=\${SLURM_RESTART_COUNT:-0} gym_next=""
queue_next() {
	[[ ! $gym_next ]] || return 0
	((gym_tried == 0)) || gym_next=$(find_next)
	[[ $gym_next ]] || gym_next=$(submit_next)
	gym_tried=1
	if [[ $gym_next ]]; then
		note next ",\\"next\\":\\"$gym_next\\""
	else
		note next ',"next":null'
		echo "gym: no further job could be queued (logs/queue-$gym_id.err); this one works on" >&2
	fi
}

# What becomes of the successor when this segment ends. One that got TERM leaves that to the successor itself: the
# scheduler is about to kill it.
settle() {
	case $gym_why in
	finished | stopped | over | retries | cap | no-progress)
		if [[ ! $gym_next ]] && ((gym_tried > 0)); then gym_next=$(find_next); fi
		[[ ! $gym_next ]] || drop_next "$gym_next"
		rm -f .env
		;;
	# One that may not steer the chain, or cannot write down what it counts, queues nobody: it would go on for ever.
	owner | disk) rm -f .env ;;
	claimed | terminated) ;;
	*)
		queue_next
		[[ $gym_next ]] || rm -f .env
		;;
	esac
}

# A number that is kept in a file: 0 when there is none, or one that nobody can have counted up to.
counter() {
	local text=""
	[[ ! -r $1 ]] || text=$(<"$1")
	[[ $text =~ ^[0-9]{1,15}$ ]] || text=0
	printf '%s' "$((10#$text))"
}
keep() {
	if (umask 177 && printf '%s\\n' "$2" >"$1.new") && mv -f "$1.new" "$1"; then return; fi
	finish 74 disk
}

# A limit, read anew by every segment; nothing when there is none.
limit() {
	local text=""
	[[ ! -r budget.json ]] || text=$(<budget.json)
	[[ ! $text =~ \\"$1\\":\\ *([0-9]+) ]] || printf '%s' "\${BASH_REMATCH[1]}"
}

# What the run has left so far: names and sizes.
artifacts() { find artifacts model-calls -type f -printf '%p %s\\n' 2>/dev/null | sort | md5sum; }

# Waits until the scheduler says how a job ended: accounting lags. When nobody knows any more, that is an answer.
await_end() {
	local try
	for ((try = 0; try < 60; try++)); do
		if look_back "$1"; then return; fi
		[[ ! $gym_forgotten ]] || break
		pause 1
	done
	gym_state=unknown
}

# How the predecessor ended: gym_state in the scheduler's words, gym_elapsed in seconds, gym_cause its own word.
judge() {
	local record="" state
	gym_cause="" gym_elapsed=""
	[[ ! -r ends/$1 ]] || record=$(<"ends/$1")
	[[ ! $record =~ \\ why=([^ ]+) ]] || gym_cause=\${BASH_REMATCH[1]}
	case $gym_cause in
	finished) gym_state=COMPLETED ;;
	stopped) gym_state=CANCELLED ;;
	timeout) gym_state=TIMEOUT ;;
	retries | cap | no-progress) gym_state=STOPPED ;;
	'' | terminated) await_end "$1" ;;
	*) # It says that it failed; that a node failed or that it was preempted, only the scheduler knows.
		look_back "$1"
		case $gym_state in
		TIMEOUT | PREEMPTED | NODE_FAIL | BOOT_FAIL | CANCELLED | OUT_OF_MEMORY) ;;
		*) gym_state=FAILED ;;
		esac
		;;
	esac
	if [[ $record =~ \\ elapsed=([0-9]+) ]]; then
		gym_elapsed=\${BASH_REMATCH[1]}
	elif [[ ! $gym_elapsed ]]; then
		state=$gym_state
		look_back "$1"
		gym_state=$state
	fi
}

# Goes on after the predecessor, or ends the chain. Each of its decisions is a line of the journal.
follow() {
	local previous=$1 retries idle walltime spent="" most orders="" decision=resume code=0
	if ! mkdir "claims/$previous" 2>/dev/null && [[ ! -e claims/$previous/$gym_id ]]; then
		[[ -d claims/$previous ]] || finish 74 disk
		note previous ",\\"previous\\":\\"$previous\\",\\"decision\\":\\"claimed\\""
		finish 0 claimed
	fi
	: >"claims/$previous/$gym_id"
	judge "$previous"
	retries=$(counter .gym_infra_retries) idle=$(counter .gym_idle_timeouts)
	walltime=$(($(counter .gym_accumulated_walltime) + \${gym_elapsed:-0}))
	[[ ! -r control ]] || orders=$(<control)
	if [[ $orders$'\\n' == *"go-on $previous"$'\\n'* ]]; then
		gym_state="$gym_state (resumed)"
	else
		case $gym_state in
		COMPLETED) decision=over ;;
		CANCELLED) decision=over ;;
		TIMEOUT | PREEMPTED | NODE_FAIL | BOOT_FAIL | unknown) ;;
		STOPPED) [[ $gym_cause != retries ]] || spent=1 ;;
		*) retries=$((retries + 1)) spent=1 ;;
		esac
		if [[ $(artifacts) != "$(cat "progress/$previous" 2>/dev/null)" ]]; then
			[[ $gym_state == STOPPED ]] || idle=0
		elif [[ $gym_state == TIMEOUT && $(cat "orders/$previous" 2>/dev/null) == *run* ]]; then
			idle=$((idle + 1))
		fi
		# A chain that has lost its limits does not fail for ever; the next apply gives them back.
		most=$(limit max_retries)
		if [[ $spent ]] && ((retries > \${most:-0})); then decision=retries code=1; fi
		most=$(limit no_progress)
		if [[ $decision == resume && $most ]] && ((idle >= most)); then decision=no-progress; fi
	fi
	most=$(limit max_walltime)
	if [[ $decision == resume && $most ]] && ((walltime >= most)); then decision=cap; fi
	keep .gym_accumulated_walltime "$walltime"
	((retries == 0)) || keep .gym_infra_retries "$retries"
	keep .gym_idle_timeouts "$idle"
	note previous ",\\"previous\\":\\"$previous\\",\\"state\\":\\"$gym_state\\",\\"elapsed\\":\${gym_elapsed:-null},\\"retries\\":$retries,\\"walltime\\":$walltime,\\"idle\\":$idle,\\"decision\\":\\"$decision\\""
	[[ $decision == resume ]] || finish "$code" "$decision"
}`;

/** The functions of a job's chain; none when it is not resumable. */
export function chainFunctions(job: Job, platform: { readonly chain: string }): readonly string[] {
	return job.chain === null ? [] : [platform.chain, FUNCTIONS];
}

/** What a segment does before it works. */
export function chainStart(job: Job): readonly string[] {
	const check = "if stopped; then finish 0 stopped; fi";
	if (job.chain === null) return [check];
	return [
		check,
		// A job that the scheduler started again may have followed its predecessor already.
		'if [[ ${1-} && ! -e progress/$gym_id ]]; then follow "$1"; fi',
		'if [[ ! -e progress/$gym_id ]]; then artifacts >"progress/$gym_id"; fi',
		"queue_next",
		// The mark may have come while the successor was on its way.
		check,
	];
}

/** Text of `budget.json`: the limits of a chain, on one line. */
export function budgetText({ maxRetries, maxWalltime, noProgress }: NonNullable<Job["chain"]>): string {
	return `${JSON.stringify({ max_retries: maxRetries, max_walltime: maxWalltime, no_progress: noProgress })}\n`;
}
