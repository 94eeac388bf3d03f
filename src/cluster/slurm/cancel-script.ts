/**
 * The cancel exchange: stop mark first, then cancel what is listed for exactly these directories, until two
 * listings in a row are empty (COMPLETING counts as there). No id is ever cancelled whose user and working
 * directory were not just read.
 */
import { quote } from "../../job/script/quote.ts";
import type { Points } from "../../points.ts";

/** Text of the exchange for some benchmark directories. */
export function cancelScript(jobDirs: readonly string[], points: Points): string {
	return `# Cancels the jobs of ${jobDirs.length} benchmark(s).
point() { ${points.remote ? `[[ $1 != ${quote(points.remote)} ]] || kill -KILL $BASHPID $$` : ":"}; }
main() {
  trap '' HUP PIPE
  local user seen id dir state empty=0 try silent=0 found; local -A mine=() done=()
  user=$(id -un); export LC_ALL=C
  command -v scancel >/dev/null && command -v squeue >/dev/null || return 90
${jobDirs.map((dir) => `  mine[${quote(dir)}]=1; [[ ! -d ${quote(dir)} ]] || printf 'stop\\n' >>${quote(`${dir}/control`)} || return 94`).join("\n")}
  point cancel.marked
  for ((try = 0; try < 240 && empty < 2; try++)); do
    if ! seen=$(squeue -h -u "$user" -o '%A|%T|%Z' 2>/dev/null); then ((++silent < 10)) || return 75; sleep 1; continue; fi
    found=
    while IFS='|' read -r id state dir; do
      [[ $id && $dir && \${mine[$dir]-} ]] || continue
      found+=" $id $dir"$'\\n'
      [[ $state == COMPLETING ]] || { scancel "$id" 2>/dev/null && done[$id]=$dir; }
    done <<<"$seen"
    if [[ $found ]]; then empty=0; else ((++empty)); fi
    ((empty >= 2)) || sleep 0.25
  done
  point cancel.done
${jobDirs.map((dir) => `  ((empty < 2)) || rm -f -- ${quote(`${dir}/.env`)}`).join("\n")}
  printf 'at\\t%s\\n' "$(date +%s)"
  for id in "\${!done[@]}"; do printf 'cancelled\\t%s\\t%s\\n' "$id" "\${done[$id]}"; done
  ((empty >= 2)) || while read -r id dir; do [[ -z $id ]] || printf 'left\\t%s\\t%s\\n' "$id" "$dir"; done <<<"$found"
}
main
`;
}
