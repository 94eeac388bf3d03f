# shellcheck shell=bash
# --- daemons ----------------------------------------------------------------

daemons() { net_names; say munged; say mariadbd; say slurmdbd; say slurmctld; node_names; say sshd; say sshproxy; }

build() {
	local flags=(-shared -fPIC -O2 -Wall -Wextra -Werror)
	gcc "${flags[@]}" -o "$RUN/lib/spank-container.so.new" "$HERE/spank-container.c" "$HERE/slurm/image.c"
	mv "$RUN/lib/spank-container.so.new" "$RUN/lib/spank-container.so"
	[[ -f $RUN/lib/warp.so ]] || gcc "${flags[@]}" -o "$RUN/lib/warp.so" "$HERE/slurm/warp.c"
	[[ -f $RUN/lib/oom ]] || gcc -O2 -Wall -o "$RUN/lib/oom" "$HERE/slurm/oom.c" -lslurm
}

start_munged() {
	start_daemon munged munged --foreground --key-file="$RUN/munge/key" \
		--socket="$RUN/munge/sock" --pid-file="$RUN/munge/pid" \
		--log-file="$RUN/log/munged.log" --seed-file="$RUN/munge/seed" --num-threads=4
}

# Reached by its unix socket only, by root only. Durability is traded for speed.
# (An empty data folder with --skip-grant-tables starts faster, and slurmdbd seems
# content, but without mysql.proc it silently cannot store associations.)
start_mariadbd() {
	local opts=(--no-defaults --user=root --datadir="$RUN/db" --innodb-log-file-size=16M
		--innodb-doublewrite=0 --debug-no-sync --tmpdir="$RUN/spool")
	# tmpdir: a mariadbd that starts removes the temporary tables of all others in /tmp.
	if [[ ! -f $RUN/state/db-installed ]]; then
		rm -rf "${RUN:?}/db"; mkdir -m 700 "$RUN/db"   # whatever an interrupted run left
		mariadb-install-db "${opts[@]}" --skip-test-db --auth-root-authentication-method=socket \
			>"$RUN/log/mariadb-install-db.out" 2>&1 || die "see $RUN/log/mariadb-install-db.out"
		: >"$RUN/state/db-installed"
	fi
	start_daemon mariadbd mariadbd "${opts[@]}" --socket="$RUN/db/sock" --pid-file="$RUN/db/pid" \
		--skip-networking --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 \
		--innodb-flush-log-at-trx-commit=0 --skip-log-bin
}

start_slurmdbd() {   # slurmdbd.conf has no key for the database's socket
	local pre; mapfile -t pre < <(in_host ctl)
	start_daemon slurmdbd "${pre[@]}" env SLURM_CONF="$RUN/etc/slurmdbd.conf" MYSQL_UNIX_PORT="$RUN/db/sock" slurmdbd -D
}

start_slurmctld() {
	local pre; mapfile -t pre < <(in_host ctl)
	start_daemon slurmctld "${pre[@]}" env LD_PRELOAD="$RUN/lib/warp.so" slurmctld -D
}

start_node() {
	local pre; mapfile -t pre < <(in_host "$1")
	mkdir -p "$RUN/spool/$1"
	start_daemon "$1" "${pre[@]}" env PATH="$RUN/bin:$PATH" slurmd -D -N "$1"
}

start_sshd() {
	local pre; mapfile -t pre < <(in_host login)
	start_daemon sshd "${pre[@]}" /usr/sbin/sshd -D -e -f "$RUN/etc/sshd_config"
	start_daemon sshproxy python3 -I -S "$HERE/slurm/sshproxy.py" "$(port ssh)" \
		"$(if [[ $NET == netns ]]; then pid_of net-login; else say -; fi)" "$(addr login):$(port sshd)"
}

register_accounts() {   # before slurmctld: it wants to find its cluster in the database
	[[ ! -f $RUN/state/registered ]] || return 0
	# What is there already makes sacctmgr say "Nothing new added" and exit with 1.
	on ctl sacctmgr -iQ >"$RUN/log/sacctmgr.out" 2>&1 <<-CMDS || true
	add cluster testbed
	add account acct Cluster=testbed Description=testbed Organization=testbed
	add user $GUSER Account=acct DefaultAccount=acct
	add user root Account=acct
	CMDS
	[[ $(on ctl sacctmgr -nP show assoc user="$GUSER" format=account,user) == "acct|$GUSER" ]] ||
		die "cannot register accounts: $RUN/log/sacctmgr.out"
	: >"$RUN/state/registered"
}

nodes_idle() {   # all nodes answer: neither down, nor unknown, nor not responding (*)
	[[ $(on ctl sinfo -h -N -p batch -o %T | grep -cE '^(idle|mixed|allocated|completing)$') == "$NODES" ]]
}

ready() {   # is daemon $1 not only alive but answering?
	case $1 in
	munged) munge -n -S "$RUN/munge/sock" ;;
	mariadbd) mariadb-admin --no-defaults -S "$RUN/db/sock" ping ;;
	net-*) on "${1#net-}" grep -qF "$(addr "${1#net-}")" /proc/net/fib_trie ;;
	slurmdbd) on ctl bash -c ": </dev/tcp/$(addr ctl)/$(port slurmdbd)" ;;   # a sacctmgr call takes 0.4 s
	slurmctld) on ctl scontrol ping | grep -q 'is UP' ;;
	node*) on ctl sinfo -h -n "$1" -p batch -o %T | grep -qE '^(idle|mixed|allocated|completing)$' ;;
	sshd | sshproxy) ssh -F "$RUN/ssh/config" login true ;;
	esac >/dev/null 2>&1
}

