/** The part of the observe exchange that reads rollouts, as many as one look carries. */
import { quote } from "../../job/script/quote.ts";
import { ROLLOUTS_LIMIT, type RunQuery } from "../scheduler.ts";

/** Bash text that notes what of a run's rollouts is new; nothing for a run whose rollouts are not asked for. */
export function rolloutsLine({ jobDir, rolloutsOffset }: RunQuery, index: number): readonly string[] {
	if (rolloutsOffset === null) return [];
	return [`rollouts_of ${index} ${rolloutsOffset} ${quote(`${jobDir}/artifacts/rollouts.jsonl`)}`];
}

/**
 * The bash functions `rollouts_of INDEX OFFSET FILE` and `send_rollouts`. The runs with the least to read come first,
 * so that what they leave of the budget goes to the others; and a row that is longer than its run's share is read
 * whole where the budget has room, because half a row tells nothing and would be read again with each look.
 */
export const ROLLOUTS_FUNCTIONS = `rollouts_of() {
  [[ -f $3 ]] || return 0
  offsets[$1]=$2 files[$1]=$3
}
send_rollouts() {
  local left=${ROLLOUTS_LIMIT} runs=\${#files[@]} n size bytes row
  while read -r bytes n; do
    size=$((left / runs)); ((runs--))
    if ((bytes > size)); then
      row=$(tail -c +$((offsets[n] + 1)) "\${files[n]}" | head -c "$left" | head -n 1 | wc -c)
      ((row <= size)) || size=$row
    else
      size=$bytes
    fi
    ((left -= size))
    tail -c +$((offsets[n] + 1)) "\${files[n]}" | head -c "$size" | section "$n:rollouts"
    ((bytes <= size)) || section "$n:cut" <<<yes
  done < <(
    for n in "\${!files[@]}"; do
      bytes=$(($(wc -c <"\${files[n]}") - offsets[n]))
      printf '%s %s\\n' "$((bytes > 0 ? bytes : 0))" "$n"
    done | sort -n
  )
}`;
