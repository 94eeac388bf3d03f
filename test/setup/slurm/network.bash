# shellcheck shell=bash
# --- network ----------------------------------------------------------------
#
# With NET=netns the cluster has hosts with a network namespace each:
#
#   this machine: 127.0.0.1:PORT (sshproxy), and testbedPORT (.253) if HOSTLINK=yes
#   ctl   (.254): the bridge; slurmctld, slurmdbd
#   login (.250): sshd
#   node1 (.1)..: slurmd, jobs
#
# A `sleep` per host keeps its namespaces (network, mount, UTS) alive; nothing is
# mounted outside of them. They and all their interfaces go when their processes go.
# The subnet follows from the block of ports: 10.200.0.0/24 to 10.212.203.0/24.

choose_net() {   # NET=auto or netns: do namespaces work here?
	local why
	[[ $NET != shared ]] || return 0
	[[ $NET == auto || $NET == netns ]] || die "CLUSTER_NET is netns or shared, not '$NET'"
	if why=$(unshare --uts --mount --net --propagation slave /bin/sh -ec '
		hostname probe; mount --bind /etc/hosts /etc/hosts; ip link set lo up
		ip link add name br0 type bridge; ip link add name veth0 type veth peer name veth1' 2>&1)
	then NET=netns; return; fi
	[[ $NET == auto ]] || die "CLUSTER_NET=netns does not work here: $why"
	say "NO NETWORK NAMESPACES here ($why): the nodes share one network, so no two can listen on the same port"
	NET=shared
}

hosts() { say ctl; say login; node_names; }
net_names() { [[ $NET != netns ]] || hosts | sed 's/^/net-/'; }

addr() {   # of one host
	local n=$((PORT_BASE / 20)) last
	if [[ $NET != netns ]]; then say 127.0.0.1; return; fi
	case $1 in ctl) last=254 ;; host) last=253 ;; login) last=250 ;; *) last=${1#node} ;; esac
	say "10.$((200 + n / 256)).$((n % 256)).$last"
}

check_hostlink() {
	if [[ $NET == netns && $HOSTLINK == yes ]] &&
		ip -4 route show match "$(addr node1)" | grep -qv '^default'
	then
		say "this machine has a route for $(addr node1) already: it gets no link to the cluster's network"
		HOSTLINK=no
	fi
}

# What to put in front of a command to run it on one host. Without network
# namespaces: under a hostname of its own and with RUN/etc/hosts as /etc/hosts, if
# this machine lets us.
in_host() {   # NAME, then prints the prefix, one word per line
	if [[ $NET == netns ]]; then
		printf '%s\n' nsenter --target "$(pid_of "net-$1")" --net --uts --mount --
		return
	fi
	if [[ $1 == ctl ]]; then return; fi
	if [[ -z ${CAN_UNSHARE:-} ]]; then
		if unshare --uts --mount --propagation slave hostname probe 2>/dev/null; then
			CAN_UNSHARE=yes; else CAN_UNSHARE=no; fi
	fi
	if [[ $CAN_UNSHARE == yes ]]; then
		# shellcheck disable=SC2016
		printf '%s\n' unshare --uts --mount --propagation slave /bin/sh -c \
			'hostname "$1" && mount --bind "$2" /etc/hosts && shift 2 && exec "$@"' \
			sh "$1" "$RUN/etc/hosts"
	fi
}

on() {   # HOST COMMAND...
	local pre; mapfile -t pre < <(in_host "$1"); shift
	"${pre[@]}" "$@"
}

start_net() {
	local host name missing=
	[[ $NET == netns ]] || return 0
	for name in $(net_names); do pid_of "$name" >/dev/null || missing=1; done
	[[ -n $missing ]] || return 0
	# Nothing is there yet, or a part was lost: build all of it anew.
	for name in sshproxy sshd $(node_names) slurmctld slurmdbd $(net_names); do stop_daemon "$name"; done
	rm -rf "${RUN:?}/net"; mkdir -p "$RUN/net" "$RUN/sys"
	for host in $(hosts); do
		# /sys is mounted anew to show the interfaces of this namespace and no others.
		# shellcheck disable=SC2016
		start_daemon "net-$host" unshare --uts --mount --net --propagation slave /bin/sh -c '
			hostname "$1" && mount --bind "$2/etc/hosts" /etc/hosts && ip link set lo up || exit 1
			for f in resolv.conf nsswitch.conf; do mount --bind "$2/etc/$f" "/etc/$f"; done
			mount --rbind /sys "$2/sys" && mount -t sysfs sysfs /sys &&
				mount --rbind "$2/sys/fs/cgroup" /sys/fs/cgroup
			umount -l "$2/sys"
			: >"$2/net/$1"
			exec sleep infinity' sh "$host" "$RUN"
	done
	for host in $(hosts); do wait_until "namespace of $host" test -e "$RUN/net/$host"; done
	# The route leads to ctl, which knows no further one and says so: what looks for
	# its own address by a route gets it, what wants the internet fails at once.
	# shellcheck disable=SC2016
	on ctl /bin/sh -c 'cd /proc/sys/net/ipv4 && echo 1 >ip_forward && echo 0 >icmp_ratelimit' || true
	{
		say "link add name br0 type bridge"
		say "link set br0 addrgenmode none up"
		say "addr add $(addr ctl)/24 dev br0"
		# Without delayed ACKs of 40 ms sacctmgr takes 0.2 s, with them 0.7 s.
		say "route change table local local $(addr ctl) dev br0 proto kernel scope host src $(addr ctl) quickack 1"
		for host in $(hosts); do
			[[ $host != ctl ]] || continue
			say "link add name $host type veth peer name eth0 netns $(pid_of "net-$host")"
			say "link set $host addrgenmode none master br0 up"
		done
		if [[ $HOSTLINK == yes ]]; then
			say "link add name host type veth peer name testbed$PORT_BASE netns $$"
			say "link set host addrgenmode none master br0 up"
		fi
	} | on ctl ip -batch -
	for host in $(hosts); do
		[[ $host != ctl ]] || continue
		printf '%s\n' "link set eth0 addrgenmode none up" "addr add $(addr "$host")/24 dev eth0" \
			"route add default via $(addr ctl)" | on "$host" ip -batch -
	done
	if [[ $HOSTLINK == yes ]]; then
		ip link set "testbed$PORT_BASE" addrgenmode none up
		ip addr add "$(addr host)/24" dev "testbed$PORT_BASE"
	fi
}

in_net() {   # NAME: the processes in the network namespace of one host, but for the sleep
	local pid ns other pids
	pid=$(pid_of "net-$1") || return 0   # without it the namespace's number may be another's
	ns=$(readlink "/proc/$pid/ns/net")
	mapfile -t pids < <(find /proc/[0-9]*/ns/net -maxdepth 0 -lname "${ns//[\[\]]/?}" 2>/dev/null | cut -d/ -f3)
	for other in "${pids[@]}"; do [[ $other == "$pid" ]] || say "$other"; done
}

