/**
 * The cancel exchange: stop mark first, then cancel what is listed for exactly these directories, until two
 * listings in a row are empty (COMPLETING counts as there). No id is ever cancelled whose user and working
 * directory were not just read.
 */
import { quoteAll } from "../../job/script/quote.ts";
import type { Points } from "../../points.ts";
import { NAMED_CLUSTERS_FUNCTION } from "./named-clusters.ts";
import { pointFunction } from "./point-function.ts";

/**
 * The bash function `cancel_jobs DIR…`: cancels what is listed for directories that are marked already; fills `gone` (id → directory) and `found` (what is left,
 * `ID DIR` a line). Fails with 75 when the queue does not answer.
 */
export const CANCEL_FUNCTION = `cancel_jobs() {
  local seen id dir state owner cluster empty=0 try silent=0; local -a clusters=(); local -A mine=()
  named_clusters "\${@%/*}"
  found=
  for dir; do
    mine[$dir]=1
  done
  point cancel.marked
  for ((try = 0; try < 240 && empty < 2; try++)); do
    found=
    for cluster in '' "\${clusters[@]}"; do
      if ! seen=$(squeue \${cluster:+-M "$cluster"} -h -a -u "$user" -o '%A|%T|%u|%Z' 2>/dev/null); then
        empty=0
        ((++silent < 10)) || return 75
        sleep 1
        continue 2
      fi
      while IFS='|' read -r id state owner dir; do
        [[ $id && $dir && $owner == "$user" && \${mine[$dir]-} ]] || continue
        found+="$id $dir"$'\\n'
        [[ $state == COMPLETING ]] || { scancel \${cluster:+-M "$cluster"} "$id" 2>/dev/null && gone[$id]=$dir; }
      done <<<"$seen"
    done
    silent=0
    if [[ $found ]]; then empty=0; else ((++empty)); fi
    ((empty >= 2)) || sleep 0.25
  done
  point cancel.done
  [[ $found ]] || for dir; do rm -f -- "$dir/.env"; done
}`;

/**
 * The bash function `mark_stopped DIR…`. The mark is made even where nothing was staged yet: a submit exchange that
 * is still on its way finds it and queues nothing. A disk that is full keeps no job from being cancelled.
 */
export const MARK_FUNCTION = `mark_stopped() {
  local dir
  for dir; do
    [[ -d \${dir%/*/*} ]] || continue
    { mkdir -p -- "$dir" && printf 'stop\\n' >>"$dir/control"; } 2>/dev/null || :
  done
}`;

/** Text of the exchange for some benchmark directories. */
export function cancelScript(jobDirs: readonly string[], points: Points): string {
	const locks = [...new Set(jobDirs.map((dir) => `${dir.slice(0, dir.lastIndexOf("/"))}/submit.lock`))];
	return `# Cancels the jobs of ${jobDirs.length} benchmark(s).
${pointFunction(points)}
${NAMED_CLUSTERS_FUNCTION}
${MARK_FUNCTION}
${CANCEL_FUNCTION}
main() {
  trap '' HUP PIPE
  local user found id dir lock locks=(${quoteAll(locks)}); local -A gone=()
  export LC_ALL=C
  user=$(id -un)
  umask "$(printf '%04o' $(($(umask) | 022)))" # the user's own, but never group-writable
  unset "\${!SQUEUE_@}" # filters would hide jobs
  command -v scancel >/dev/null && command -v squeue >/dev/null || return 90
  mark_stopped ${quoteAll(jobDirs)}
  for lock in "\${locks[@]}"; do # a submit exchange may still be at work, and would queue more
    [[ ! -e $lock ]] || flock -w 120 "$lock" true || return 93
  done
  cancel_jobs ${quoteAll(jobDirs)} || return
  printf 'at\\t%s\\n' "$(date +%s)"
  for id in "\${!gone[@]}"; do printf 'cancelled\\t%s\\t%s\\n' "$id" "\${gone[$id]}"; done
  while read -r id dir; do [[ ! $id ]] || printf 'left\\t%s\\t%s\\n' "$id" "$dir"; done <<<"$found"
}
main
`;
}
