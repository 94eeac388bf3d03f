/** The logs exchange: pieces of a run's log files from given offsets, or their last lines. */
import { quote } from "../../job/script/quote.ts";

/** Most bytes of one file that one exchange carries. */
export const LOG_LIMIT = 4 * 1024 * 1024;

/** Text of the exchange; answers `NAME SIZE BASE64` a line. */
export function logsScript(jobDir: string, offsets: ReadonlyMap<string, number>, tail: number): string {
	const known = [...offsets].map(([file, offset]) => `  from[${quote(file)}]=${offset}`).join("\n");
	return `# Reads log files.
main() {
  local f size; local -A from=()
${known}
  cd -- ${quote(`${jobDir}/logs`)} 2>/dev/null || return 0
  for f in *; do
    [[ -f $f ]] || continue
    size=$(wc -c <"$f")
    if [[ \${from[$f]-} ]]; then
      ((size > from[$f])) || continue
      printf '%s %s %s\\n' "$(base64 -w0 <<<"$f")" "$size" "$(tail -c +$((from[$f] + 1)) "$f" | head -c ${LOG_LIMIT} | base64 -w0)"
    else
      printf '%s %s %s\\n' "$(base64 -w0 <<<"$f")" "$size" "$(tail -n ${tail} "$f" | tail -c ${LOG_LIMIT} | base64 -w0)"
    fi
  done
}
main
`;
}
