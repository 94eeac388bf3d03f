/** The logs exchange: pieces of a run's log files from given offsets, or their last lines. */
import { quote } from "../../job/script/quote.ts";
import { LOG_LIMIT } from "../scheduler.ts";

/** Text of the exchange; answers `NAME SIZE BASE64` a line. */
export function logsScript(jobDir: string, offsets: ReadonlyMap<string, number>, tail: number): string {
	const known = [...offsets].map(([file, offset]) => `  from[${quote(file)}]=${offset}`).join("\n");
	return `# Reads log files.
main() {
  local f size since end; local -A from=()
${known}
  cd -- ${quote(`${jobDir}/logs`)} 2>/dev/null || return 0
  for f in *; do
    [[ -f $f ]] || continue
    size=$(wc -c <"$f") since=\${from[$f]-} # never inside ((…)), which would run a name like a[$(cmd)]
    if [[ $since ]]; then
      ((size > since)) || continue
      end=$((size - since > ${LOG_LIMIT} ? since + ${LOG_LIMIT} : size))
      printf '%s %s %s\\n' "$(base64 -w0 <<<"$f")" "$end" "$(tail -c +$((since + 1)) "$f" | head -c $((end - since)) | base64 -w0)"
    else # what is written while we look comes with the next look
      printf '%s %s %s\\n' "$(base64 -w0 <<<"$f")" "$size" "$(head -c "$size" "$f" | tail -n ${tail} | tail -c ${LOG_LIMIT} | base64 -w0)"
    fi
  done
}
main
`;
}
