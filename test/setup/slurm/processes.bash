# shellcheck shell=bash
# --- processes --------------------------------------------------------------
#
# Every daemon runs in the foreground mode it has, in a session of its own. Its
# pid and start time go to RUN/pid/NAME; a pid counts only while both agree, so a
# reused pid is never mistaken for ours, and never killed. The daemons also carry
# TESTBED_RUN=<run folder> in their environment, by which leftovers are found. (Not
# a name in SLURM_*: slurmd removes those from the environment of slurmstepd.)

start_time() {   # of a live process; nothing for a dead one or a zombie
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
	stat=${stat##*) }   # the name before it may hold blanks
	[[ $stat == Z* ]] || cut -d' ' -f20 <<<"$stat"
}

pid_of() {
	local pid start
	read -r pid start 2>/dev/null <"$RUN/pid/$1" || return 1
	[[ -n $start && $(start_time "$pid") == "$start" ]] && say "$pid"
}

start_daemon() {   # NAME COMMAND...
	local name=$1; shift
	if pid_of "$name" >/dev/null; then return 0; fi
	TESTBED_RUN=$RUN TESTBED_DAEMON=$name setsid "$@" </dev/null >>"$RUN/log/$name.out" 2>&1 9>&- &
	say "$! $(start_time $!)" >"$RUN/pid/$name"
	disown
}

# setsid forks only if it is a group leader, which a background job of a
# non-interactive shell is not: so $! above is the daemon itself.

stop_pids() {   # SIGNAL SECONDS PID...: signal, then wait for all of them to go
	local sig=$1 end pid alive
	end=$(($(now) + $2 * 1000)); shift 2
	for pid; do kill "-$sig" "$pid" 2>/dev/null || true; done
	while :; do
		alive=
		for pid; do if [[ -n $(start_time "$pid") ]]; then alive=1; fi; done
		if [[ -z $alive ]]; then return 0; fi
		(($(now) < end)) || return 1
		sleep 0.05
	done
}

stop_daemon() {   # NAME [SECONDS]
	local pid
	if pid=$(pid_of "$1"); then
		stop_pids TERM "${2:-5}" "$pid" || stop_pids KILL 5 "$pid" || true
	fi
	rm -f "$RUN/pid/$1"
}

# What is left of daemons, jobs and ssh sessions: processes that carry our mark, that
# are part of a job (slurmstepd gives each task SLURM_CONF and SLURM_JOB_ID), or that
# are in a network namespace of ours. Not the processes that hold these.
leftovers() {
	local pid name keep=" "
	for name in $(net_names); do keep+="$(pid_of "$name" || true) "; done
	{
		for name in $(net_names); do in_net "${name#net-}" | sed 's|^|/proc/|'; done
		grep -lzxF "TESTBED_RUN=$RUN" /proc/[0-9]*/environ
		grep -lzxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ | xargs -r grep -lz '^SLURM_JOB_ID='
	} 2>/dev/null | cut -d/ -f3 | sort -u | while read -r pid; do
		[[ $pid == "$$" || $keep == *" $pid "* || -z $(start_time "$pid") ]] || say "$pid"
	done
}

# All processes below $1. sshd writes its title over its environment, so the ones
# that serve a session carry no mark.
descendants() {
	local pid pids
	read -ra pids < <(cat /proc/"$1"/task/*/children 2>/dev/null) || true
	for pid in "${pids[@]}"; do descendants "$pid"; say "$pid"; done
}

wait_until() {   # WHAT COMMAND...: poll until the command succeeds
	local what=$1; shift
	until "$@" >/dev/null 2>&1; do
		(($(now) < DEADLINE)) || die "$what did not come up; look into $RUN/log"
		sleep 0.05
	done
}

