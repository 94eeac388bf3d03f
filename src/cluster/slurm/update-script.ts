/**
 * The update exchange: new limits for chains that go on, and new values for what is queued. Files are replaced first,
 * so that whatever is queued from then on has them; then the user's own pending jobs of exactly these directories are
 * told, which keep their place in the queue.
 */
import { quote, quoteAll } from "../../job/script/quote.ts";
import type { Points } from "../../points.ts";
import type { JobUpdate } from "../scheduler.ts";
import { NAMED_CLUSTERS_FUNCTION } from "./named-clusters.ts";
import { pointFunction } from "./point-function.ts";
import { PUT_FUNCTION, putLines } from "./put-function.ts";

function runDirOf(jobDir: string): string {
	return jobDir.slice(0, jobDir.lastIndexOf("/"));
}

/** A function for each directory whose queued jobs are told something, by its index. */
function tellFunctions(updates: readonly JobUpdate[]): string {
	return updates
		.map(({ queued }, index) => {
			const words = quoteAll([...queued].map(([key, value]) => `${key}=${value}`));
			return `tell_${index}() { scontrol "$@" ${words} 2>&1 </dev/null; }`;
		})
		.join("\n");
}

/** Text of the exchange for some benchmark directories. */
export function updateScript(updates: readonly JobUpdate[], points: Points): string {
	const runDirs = [...new Set(updates.map(({ jobDir }) => runDirOf(jobDir)))];
	return `# Updates the runs of ${updates.length} benchmark(s) in place.
${pointFunction(points)}
${NAMED_CLUSTERS_FUNCTION}
${PUT_FUNCTION}
look() { # ARGUMENT...: the user's pending jobs; no answer is never "none"
  local try
  for try in 1 2 3; do
    if seen=$(squeue "$@" -h -a -t PENDING -u "$user" -o '%A|%u|%Z' 2>/dev/null); then return; fi
    ((try == 3)) || sleep "$try"
  done
  return 75
}
${tellFunctions(updates)}
tell() { # ID INDEX ARGUMENT...: a job that has started meanwhile needs no word
  local id=$1 index=$2 said; shift 2
  if said=$("tell_$index" "$@" update "JobId=$id"); then
    printf 'updated\\t%s\\t%s\\n' "$index" "$id"
  elif [[ $(squeue "$@" -h -j "$id" -o %T 2>/dev/null) == PENDING ]]; then
    printf 'failed\\t%s\\t%s\\t%s\\n' "$index" "$id" "$(base64 -w0 <<<"$said")"
  fi
}

main() {
  trap '' HUP PIPE
  local user seen id owner dir lock name answer=''; local -a clusters; local -A index=()
  export LC_ALL=C
  user=$(id -un)
  unset "\${!SQUEUE_@}" # filters would hide jobs
  command -v scontrol >/dev/null && command -v squeue >/dev/null || return 90
  for lock in ${quoteAll(runDirs.map((runDir) => `${runDir}/submit.lock`))}; do # a submit exchange may still be at work
    [[ ! -e $lock ]] || flock -w 120 "$lock" true || return 93
  done
${updates
	.flatMap(({ jobDir, files }) => putLines(jobDir, files))
	.map((line) => `  ${line}`)
	.join("\n")}
  point update.written
${updates.flatMap(({ jobDir, queued }, i) => (queued.size > 0 ? [`  index[${quote(jobDir)}]=${i}`] : [])).join("\n")}
  if ((\${#index[@]})); then
    named_clusters ${quoteAll(runDirs)}
    for name in '' "\${clusters[@]}"; do
      look \${name:+-M "$name"} || return
      while IFS='|' read -r id owner dir; do
        [[ $id && $dir && $owner == "$user" && \${index[$dir]-} ]] || continue
        answer+=$(tell "$id" "\${index[$dir]}" \${name:+-M "$name"})$'\\n'
      done <<<"$seen"
    done
  fi
  point update.done
  printf '%s' "$answer"
}
main
`;
}
