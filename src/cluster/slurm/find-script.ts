/**
 * The find exchange: the submissions of one stack below the output path, newest first. It is only asked when an
 * address is in no state: the state may be lost, or another machine may have submitted.
 */
import { quote } from "../../job/script/quote.ts";
import type { FoundSubmission } from "../scheduler.ts";
import { parseSections } from "./observe-script.ts";

/** Most submissions that one exchange looks into. */
const LIMIT = 500;

/** Text of the exchange. */
export function findScript(outputPath: string, stack: string): string {
	const mark = `"gymfile_stack": ${JSON.stringify(stack)}`;
	return `# Finds the submissions of a stack. Changes nothing.
main() {
  local run n=0; local -a runs=()
  cd -- ${quote(outputPath)} 2>/dev/null || return 0
  for run in gym-job-*/; do runs=("\${run%/}" "\${runs[@]}"); done
  for run in "\${runs[@]}"; do
    ((n < ${LIMIT})) || break
    if grep -qF -- ${quote(mark)} "$run/gym-job.json" 2>/dev/null; then
      section "$n:record" <"$run/gym-job.json"
      [[ ! -r $run/resolved-config.yaml ]] || section "$n:document" <"$run/resolved-config.yaml"
      [[ ! -r $run/submit.ids ]] || section "$n:ids" <"$run/submit.ids"
      ((++n))
    fi
  done
  return 0
}
section() { # NAME, content on stdin
  printf '%s ' "$1"; base64 -w0; printf '\\n'
}
main
`;
}

/** Reads the answer of `findScript`. */
export function parseFound(stdout: string): readonly FoundSubmission[] {
	const sections = parseSections(stdout);
	const text = (name: string) => sections.get(name)?.toString("utf8") ?? null;
	const found: FoundSubmission[] = [];
	for (let n = 0; ; n++) {
		const record = text(`${n}:record`);
		if (record === null) return found;
		found.push({ record, document: text(`${n}:document`), ids: text(`${n}:ids`) ?? "" });
	}
}
