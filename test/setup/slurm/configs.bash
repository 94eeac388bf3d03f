# shellcheck shell=bash
# --- configuration files ----------------------------------------------------

write_configs() {
	local node host ctl_host
	host=$(uname -n); ctl_host=${host%%.*}; [[ $NET != netns ]] || ctl_host=ctl
	mkdir -p "$RUN"/{etc,log,pid,state,spool,db,home,bin,lib,ssh,dev,munge,root,out}
	chmod 700 "$RUN/db" "$RUN/ssh"
	chown "$GUSER:" "$RUN/out"
	find "$HERE/stubs" -maxdepth 1 -type f -exec install -m 755 -t "$RUN/bin" {} +

	# munge: a key of this cluster's own; munged wants it private to its own user.
	if [[ ! -s $RUN/munge/key ]]; then
		(umask 077; head -c 1024 /dev/urandom >"$RUN/munge/key.new")
		chmod 400 "$RUN/munge/key.new"; mv "$RUN/munge/key.new" "$RUN/munge/key"
	fi

	# Fake GPUs. slurmd wants device nodes, a link to one will do; the number at the
	# end of the name becomes the index in CUDA_VISIBLE_DEVICES.
	local i; for ((i = 0; i < GPUS; i++)); do ln -sfn /dev/null "$RUN/dev/gpu$i"; done

	cat >"$RUN/etc/slurm.conf" <<-CONF
	ClusterName=testbed
	SlurmctldHost=$ctl_host($(addr ctl))
	SlurmctldPort=$(port slurmctld)
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	# cred_expire also is how long a requeued job waits before it may start again.
	AuthInfo=socket=$RUN/munge/sock,cred_expire=5
	$(if [[ $NET == shared ]]; then say CommunicationParameters=NoInAddrAny,NoCtldInAddrAny; fi)
	StateSaveLocation=$RUN/state
	SlurmdSpoolDir=$RUN/spool/%n
	SlurmctldPidFile=$RUN/spool/slurmctld.pid
	SlurmdPidFile=$RUN/spool/slurmd-%n.pid
	SlurmctldLogFile=$RUN/log/slurmctld.log
	SlurmdLogFile=$RUN/log/slurmd-%n.log
	PlugStackConfig=$RUN/etc/plugstack.conf
	# No cgroups, no CPU binding: neither can be relied on inside a container.
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	MpiDefault=none
	# Nodes claim more than the machine has.
	SlurmdParameters=config_overrides
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU_Memory
	GresTypes=gpu
	DefMemPerCPU=2000
	# Schedule at once, and look again each second.
	SchedulerType=sched/backfill
	SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1,bf_continue
	PriorityType=priority/basic
	PreemptType=preempt/partition_prio
	PreemptMode=REQUEUE
	# Short waits everywhere.
	KillWait=1
	CompleteWait=0
	InactiveLimit=0
	MinJobAge=300
	SlurmctldTimeout=5
	SlurmdTimeout=5
	BatchStartTimeout=10
	MessageTimeout=10
	TCPTimeout=2
	UnkillableStepTimeout=10
	ReturnToService=2
	# JobRequeue is left at Slurm's default (1): give --no-requeue for NODE_FAIL.
	MailProg=/bin/true
	AccountingStorageType=accounting_storage/slurmdbd
	AccountingStorageHost=$(addr ctl)
	AccountingStoragePort=$(port slurmdbd)
	# Towards slurmdbd, this key and not AuthInfo names munged's socket.
	AccountingStoragePass=$RUN/munge/sock
	AccountingStorageEnforce=associations,limits
	AccountingStorageTRES=gres/gpu
	AccountingStoreFlags=job_comment,job_env,job_script
	CONF
	for node in $(node_names); do
		say "NodeName=$node NodeAddr=$(addr "$node") Port=$(port "$node") CPUs=$CPUS" \
			"RealMemory=$MEM Gres=gpu:$GPUS State=UNKNOWN"
	done >>"$RUN/etc/slurm.conf"
	cat >>"$RUN/etc/slurm.conf" <<-CONF
	PartitionName=DEFAULT Nodes=node[1-$NODES] MaxTime=INFINITE DefaultTime=60
	PartitionName=batch Default=YES PriorityTier=10
	PartitionName=gpu PriorityTier=10
	# Jobs here preempt those of the two others; the lowest one is for scraps.
	PartitionName=urgent PriorityTier=20 PreemptMode=OFF
	CONF

	cat >"$RUN/etc/gres.conf" <<-CONF
	AutoDetect=off
	NodeName=node[1-$NODES] Name=gpu File=$RUN/dev/gpu[0-$((GPUS - 1))]
	CONF
	say "CgroupPlugin=cgroup/v1" >"$RUN/etc/cgroup.conf"   # loaded, never used
	say "required $RUN/lib/spank-container.so log=$RUN/log/container.log root=$RUN/root hide=$RUN/out" \
		"imageenv=$RUN/etc/image.env" >"$RUN/etc/plugstack.conf"
	# What every image sets; tests may rewrite it.
	[[ -f $RUN/etc/image.env ]] || say "HF_HOME=/image/hf" >"$RUN/etc/image.env"

	# root@localhost is let in by its uid; the password is not looked at.
	(umask 077; cat >"$RUN/etc/slurmdbd.conf" <<-CONF
	DbdHost=$ctl_host
	DbdAddr=$(addr ctl)
	DbdPort=$(port slurmdbd)
	SlurmUser=root
	$(if [[ $NET == shared ]]; then say CommunicationParameters=NoInAddrAny; fi)
	AuthType=auth/munge
	AuthInfo=socket=$RUN/munge/sock
	LogFile=$RUN/log/slurmdbd.log
	PidFile=$RUN/spool/slurmdbd.pid
	StorageType=accounting_storage/mysql
	StorageHost=localhost
	StorageUser=root
	StoragePass=unused
	StorageLoc=slurm
	CONF
	)
	chmod 600 "$RUN/etc/slurmdbd.conf"

	# /etc/hosts of the nodes and of the login host.
	if [[ $NET == netns ]]; then
		say "127.0.0.1 localhost"
		for node in $(hosts); do say "$(addr "$node") $node"; done
		[[ $HOSTLINK != yes ]] || say "$(addr host) $host"
	else
		say "127.0.0.1 localhost login $host"; say "127.0.0.1 $(node_names | xargs)"
	fi >"$RUN/etc/hosts"
	# There is no DNS in there; unknown names are to fail at once, not after 5 s.
	printf '%s\n' "nameserver 127.0.0.1" "options timeout:1 attempts:1" >"$RUN/etc/resolv.conf"
	sed 's/^hosts:.*/hosts: files/' /etc/nsswitch.conf >"$RUN/etc/nsswitch.conf" || true
}

write_ssh() {
	local u; u=$(id -u "$GUSER")
	[[ -f $RUN/ssh/host_key ]] || ssh-keygen -q -t ed25519 -N '' -C testbed-host -f "$RUN/ssh/host_key"
	[[ -f $RUN/ssh/id ]] || ssh-keygen -q -t ed25519 -N '' -C testbed-user -f "$RUN/ssh/id"
	install -m 644 "$RUN/ssh/id.pub" "$RUN/etc/authorized_keys"
	say "[127.0.0.1]:$(port ssh) $(cut -d' ' -f1,2 "$RUN/ssh/host_key.pub")" >"$RUN/ssh/known_hosts"
	# StrictModes no: sshd would refuse key files below a world-writable /tmp.
	cat >"$RUN/etc/sshd_config" <<-CONF
	ListenAddress $(addr login)
	Port $(port sshd)
	HostKey $RUN/ssh/host_key
	PidFile $RUN/spool/sshd.pid
	AuthorizedKeysFile $RUN/etc/authorized_keys
	StrictModes no
	UsePAM no
	UseDNS no
	PasswordAuthentication no
	KbdInteractiveAuthentication no
	PermitRootLogin prohibit-password
	AllowUsers $GUSER root
	PrintMotd no
	PrintLastLog no
	MaxStartups 100
	MaxSessions 100
	AcceptEnv LANG LC_*
	ForceCommand $RUN/lib/session
	Subsystem sftp /usr/lib/openssh/sftp-server
	CONF
	# Sets what a login node would: SLURM_CONF, a HOME of this cluster, programs on PATH.
	cat >"$RUN/lib/session" <<-CONF
	#!/bin/bash
	export SLURM_CONF=$SLURM_CONF HOME=$RUN/home/\$(id -un) TESTBED_RUN=$RUN PATH=$RUN/bin:$PATH
	cd "\$HOME" || exit 1
	if [[ -n \$SSH_ORIGINAL_COMMAND ]]; then exec "\${SHELL:-/bin/bash}" -c "\$SSH_ORIGINAL_COMMAND"; fi
	exec "\${SHELL:-/bin/bash}"
	CONF
	chmod 755 "$RUN/lib/session"
	cat >"$RUN/ssh/config" <<-CONF
	Host login
	  HostName 127.0.0.1
	  Port $(port ssh)
	  User $GUSER
	  IdentityFile $RUN/ssh/id
	  IdentitiesOnly yes
	  UserKnownHostsFile $RUN/ssh/known_hosts
	  StrictHostKeyChecking yes
	  BatchMode yes
	CONF
	chmod 600 "$RUN/ssh/config"
	mkdir -p "$RUN/home/$GUSER" "$RUN/home/root"
	chown "$u:$(id -g "$GUSER")" "$RUN/home/$GUSER"
	mkdir -p /run/sshd   # compiled into Debian's sshd, cannot be moved
}

ensure_user() {
	if ! id "$GUSER" >/dev/null 2>&1; then
		# Home '/': each cluster gives the user a HOME of its own instead.
		useradd --system --user-group --no-create-home --home-dir / --shell /bin/bash "$GUSER" ||
			id "$GUSER" >/dev/null   # another cluster may have been faster
	fi
	# Without PAM sshd refuses accounts whose password field starts with '!'.
	if [[ $(getent shadow "$GUSER" | cut -d: -f2) == '!'* ]]; then usermod -p '*' "$GUSER"; fi
}

