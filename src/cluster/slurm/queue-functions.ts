/**
 * Bash functions that ask the queue and release jobs, on this cluster and on those that sbatch named in its answers
 * for the run directory `$run`.
 */

/**
 * `look FORMAT`: fills `seen` with what the controllers know of the user's jobs, a line each: cluster (nothing for this
 * one), `|`, and the format. An id may be another job on another cluster.
 */
export const LOOK_FUNCTION = `look() { # FORMAT: no answer is never "none"
  local try cluster said; local -a clusters=()
  named_clusters "$run"
  seen=
  for cluster in '' "\${clusters[@]}"; do
    for try in 1 2 3; do
      if said=$(SLURM_TIME_FORMAT=%s squeue \${cluster:+-M "$cluster"} -h -a -t all -u "$user" -o "$1" 2>>submit.err); then
        [[ ! $said ]] || seen+=$(sed "s/^/$cluster|/" <<<"$said")$'\\n'
        continue 2
      fi
      ((try == 3)) || sleep "$try"
    done
    return 75
  done
}`;

/** `release ID…`: releases held jobs, each where it is, and fills `state` with what they are then. */
export const RELEASE_FUNCTION = `release() { # until none is held: a busy controller may have to be asked again
  local wait now held id cluster; local -a clusters=() here; local -A where=()
  named_clusters "$run"
  while IFS=$'\\t' read -r _ id cluster; do where[\${id:-none}]=$cluster; done <submit.ids
  for wait in 0 1 4; do
    ((wait == 0)) || sleep "$wait"
    for cluster in '' "\${clusters[@]}"; do
      here=()
      for id; do [[ \${where[$id]-} != "$cluster" ]] || here+=("$id"); done
      ((\${#here[@]} == 0)) || scontrol \${cluster:+-M "$cluster"} release "\${here[@]}" 2>>submit.err
    done
    look '%A|%T|%r|%V|%S' || return
    held=
    while IFS='|' read -r cluster id now; do
      [[ $id && " $* " == *" $id "* && \${where[$id]-} == "$cluster" ]] || continue
      state[$id]=$now
      [[ $now != 'PENDING|JobHeldUser|'* ]] || held=1
    done <<<"$seen"
    [[ $held ]] || return
  done
}`;
