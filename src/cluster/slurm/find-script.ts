/**
 * The find exchange: submissions by their records. It is asked when an address is in no state (the state may be lost,
 * or another machine may have submitted), and for a run directory that somebody names.
 */
import { quote } from "../../job/script/quote.ts";
import { stackMark } from "../job-record.ts";
import type { FindQuery, FoundSubmission } from "../scheduler.ts";
import { parseSections, SECTION_FUNCTION } from "./observe-script.ts";
import { stackLock } from "./stack-lock.ts";

/** Most submissions that one exchange looks into. */
const LIMIT = 500;

/**
 * Bash text that fills `runs`: candidates, newest first, in the working directory. What an exchange of the stack is
 * about to queue is only there when it is done; one that takes longer than two minutes is not waited for.
 */
function candidates(where: FindQuery): string {
	if ("runDir" in where)
		return `  cd -- ${quote(where.runDir)}/.. 2>/dev/null || return 0\n  runs=(${quote(where.runDir.slice(where.runDir.lastIndexOf("/") + 1))})`;
	return `  cd -- ${quote(where.outputPath)} 2>/dev/null || return 0
  lock=${stackLock(where.outputPath, where.stack)}
  [[ ! -e $lock ]] || flock -w 120 "$lock" true
  for run in gym-job-*/; do runs=("\${run%/}" "\${runs[@]}"); done`;
}

/** Text of the exchange. */
export function findScript(where: FindQuery): string {
	// Any record will do in a directory that was named; else only those of the stack.
	const mark = "runDir" in where ? "" : stackMark(where.stack);
	return `# Finds submissions by their records. Changes nothing.
main() {
  local run lock n=0; local -a runs=()
${candidates(where)}
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
${SECTION_FUNCTION}
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
