/**
 * The submit exchange: one bash script that stages, submits held, records, releases and reports.
 *
 * Invariants it keeps, whatever dies when:
 * - a job is only ever submitted held, and only for a directory in which no job of ours is known, so a
 *   second run of the same script finds what the first left and goes on from there;
 * - its id stands in `submit.ids` before it is released;
 * - it goes on when the client is gone (HUP and PIPE ignored, output last); another exchange of the stack waits for
 *   its lock, and submits no benchmark of which a run is live by then that its own state does not know;
 * - any error of sbatch means "unknown": the queue is looked up before anything is repeated.
 */

import { quote, quoteAll } from "../../job/script/quote.ts";
import { SBATCH_ANSWER } from "../../job/script/sbatch-answer.ts";
import type { Points } from "../../points.ts";
import { recordHead, stackMark } from "../job-record.ts";
import { COUNTER_FILES, type JobRequest, type Submission } from "../scheduler.ts";
import { CANCEL_FUNCTION, MARK_FUNCTION } from "./cancel-script.ts";
import { NAMED_CLUSTERS_FUNCTION } from "./named-clusters.ts";
import { pointFunction } from "./point-function.ts";
import { PUT_FUNCTION, putLines } from "./put-function.ts";
import { LOOK_FUNCTION, RELEASE_FUNCTION } from "./queue-functions.ts";
import { stackLock } from "./stack-lock.ts";

/** Exit codes of the script that the scheduler turns into errors. */
export const SUBMIT_EXIT = {
	noSbatch: 90,
	outputPath: 91,
	mounts: 92,
	lock: 93,
	staging: 94,
	replacing: 95,
	queueSilent: 75,
} as const;

/** Name of the bash function that stages one benchmark; the mapping from names is one to one. */
function stageName(benchmark: string): string {
	return `stage_${benchmark.replaceAll(/[^A-Za-z0-9]/g, (c) => `_${c.charCodeAt(0).toString(16)}_`)}`;
}

function jobLines(job: JobRequest): string[] {
	return [
		`${stageName(job.benchmark)}() {`,
		`  mkdir -p -- ${quoteAll([`${job.jobDir}/logs`, `${job.jobDir}/artifacts`, `${job.jobDir}/model-calls`, `${job.jobDir}/ends`])} || return 94`,
		...putLines(job.jobDir, job.files).map((line) => `  ${line}`),
		...(job.resetCounters
			? [`  rm -f -- ${quoteAll(COUNTER_FILES.map((name) => `${job.jobDir}/${name}`))} || return 94`]
			: []),
		"}",
	];
}

/**
 * Stages what has no job yet. A first attempt that finds the stop mark came too late: it was cancelled before it got
 * here. A further attempt in the same directory takes the mark of an earlier cancel away.
 */
function stageLines({ benchmark, knownIds }: JobRequest): string[] {
	const name = quote(benchmark);
	return [
		...(knownIds.length > 0 ? [] : [`  bar_stopped ${name}`]),
		`  if is_open ${name}; then ${stageName(benchmark)} || return 94; fi`,
	];
}

/** The argument of a chain's script. */
function previousLine({ benchmark, previous }: JobRequest): string[] {
	return previous === null ? [] : [`  previous[${quote(benchmark)}]=${quote(previous)}`];
}

/** Only what is accepted may take an older run's place; it stays held while that one ends. */
function replaceLines({ benchmark, replaces }: JobRequest): string[] {
	if (replaces.length === 0) return [];
	return [
		`  if [[ -n \${id[${benchmark}]-} ]]; then`,
		`    mark_stopped ${quoteAll(replaces)}`,
		`    cancel_jobs ${quoteAll(replaces)} || return 95`,
		"    [[ -z $found ]] || return 95",
		"  fi",
	];
}

/** The head of `gym-job.json`, open for more fields. */
function openRecord(submission: Submission): string {
	return JSON.stringify(recordHead(submission), null, 2).slice(0, -2);
}

/** Text of the exchange for one submission. `points.remote` names a point at which it kills itself (tests only). */
export function submitScript(submission: Submission, points: Points): string {
	const { stack, runDir, outputPath, jobs } = submission;
	const forward = [
		...submission.withheld.map((name) => `  unset ${name}`),
		...[...submission.forward].map(([name, value]) => `  export ${name}=${quote(value)}`),
	];
	const known = jobs.flatMap((job) => job.knownIds);
	return `# Stages and submits ${jobs.length} job(s), exactly once each.
${pointFunction(points)}
${NAMED_CLUSTERS_FUNCTION}
${MARK_FUNCTION}
${CANCEL_FUNCTION}
forward() { # sbatch's environment, which becomes the job's: the user's own without secrets and marks of a job we are in, and the forwarded values
  unset LC_ALL SLURM_RESTART_COUNT; [[ ! $locale ]] || export LC_ALL="$locale"
${forward.join("\n")}
}
${PUT_FUNCTION}
text() { # a JSON string
  local s=$1 slash='\\' quote='"'
  s=\${s//"$slash"/"$slash$slash"}; s=\${s//"$quote"/"$slash$quote"}; s=\${s//$'\\n'/"\${slash}n"}; s=\${s//$'\\t'/"\${slash}t"}
  printf '"%s"' "\${s//[[:cntrl:]]/}"
}
words() { # what a program said on stdin, without colours and carriage returns, as UTF-8
  sed $'s/\\e\\\\[[0-9;]*[A-Za-z]//g; s/\\r//g' | tr -d '\\000' | { iconv -c -f UTF-8 -t UTF-8 2>/dev/null || true; }
}
${SBATCH_ANSWER}
${LOOK_FUNCTION}
find_jobs() { # fills id[NAME] from the queue; of two jobs in one directory the lowest stays, and a held double goes
  look '%A|%T|%r|%u|%Z' || return
  local where job state reason owner dir name stays; local -A held=() begun=() at=()
  while IFS='|' read -r where job state reason owner dir; do
    name=\${of[\${dir:-none}]-}
    [[ $name && $owner == "$user" ]] || continue
    at[$job]=$where
    # A successor that waits for what cannot come: not every Slurm takes it away.
    if [[ $state == PENDING && $reason == DependencyNeverSatisfied && $job != "\${id[$name]-}" ]]; then
      drop "$job"
      continue
    fi
    [[ "$known" != *" $job "* ]] || continue
    ! is_over "$state" || [[ $job == "\${id[$name]-}" ]] || continue # what nobody recorded never did anything
    if [[ $state == PENDING && $reason == JobHeldUser ]]; then held[$name]+=" $job"
    else begun[$name]=\${begun[$name]:-$job}; fi
  done < <(sort -t'|' -k2n <<<"$seen")
  for name in "\${names[@]}"; do
    stays=\${id[$name]-}
    if [[ ! $stays || "\${held[$name]-} " == *" $stays "* ]]; then
      read -r job _ <<<"\${held[$name]-}"
      stays=\${begun[$name]:-$job}
    fi
    [[ $stays ]] || continue
    [[ $stays == "\${id[$name]-}" ]] || accept "$name" "$stays" "\${at[$stays]}"
    for job in \${held[$name]-}; do [[ $job == "$stays" ]] || drop "$job"; done
  done
}
drop() { scancel \${at[$1]:+-M "\${at[$1]}"} "$1" 2>>submit.err; } # ID: where it was found
is_over() { [[ $1 =~ ^(BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|TIMEOUT)$ ]]; } # STATE
bar_doubles() { # of these benchmarks a run is live that the state does not know: somebody else's apply was first
  local job state reason owner dir name
  while IFS='|' read -r _ job state reason owner dir; do
    name=\${dir##*/}
    [[ $dir == "$output"/gym-job-*/"$name" && $owner == "$user" && ! \${ours[$dir]-} ]] || continue
    [[ $dir != "$run/$name" && \${of["$run/$name"]-} ]] && is_open "$name" && ! is_over "$state" || continue
    grep -qF -- ${quote(stackMark(stack))} "\${dir%/*}/gym-job.json" 2>/dev/null || continue
    barred[$name]=1 error[$name]=${quote(`another run of ${stack}/`)}"$name is live: $dir, job $job"
    error[$name]+='; plan again: it will be shown as = (adopt)'
  done < <(sort -t'|' -k2n <<<"$seen")
}
bar_stopped() { # NAME
  [[ -r $run/$1/control && $(<"$run/$1/control") == *stop* ]] || return
  barred[$1]=1 error[$1]='cancelled before it was submitted'
}
is_open() { [[ ! \${id[$1]-} && ! \${barred[$1]-} ]]; } # NAME: is it still to be submitted?
submit() { # NAME DIR: held; its id is on record before anything else happens
  local said noted rc got
  said=$(forward && exec sbatch -H --parsable --chdir="$2" "$2/job.sh" \${previous[$1]+"\${previous[$1]}"} 2>submit.said </dev/null 8>&- 9>&-); rc=$?
  point submit.accepted
  said=$(words <<<"$said"); noted=$(words <submit.said); cat submit.said >>submit.err
  got=$(answer "$said" "$noted")
  if ((rc == 0)) && [[ $got ]]; then
    accept "$1" "\${got%% *}" "\${got#* }"
  else
    error[$1]=\${noted:-\${said:-no answer}} unsure=1
    ((rc != 0)) || error[$1]="sbatch gave no job id: \${error[$1]}"
  fi
}
accept() { # NAME ID CLUSTER
  id[$1]=$2 cluster[$1]=$3
  unset "error[$1]"
  printf '%s\\t%s\\t%s\\n' "$1" "$2" "$3" >>submit.ids || unrecorded=1
}
busy() { is_open "$1" && [[ \${error[$1]-} =~ [Tt]imed\\ out|[Uu]nable\\ to\\ contact|[Tt]emporarily|[Tt]ry\\ again|[Zz]ero\\ [Bb]ytes|[Cc]onnect ]]; }
${RELEASE_FUNCTION}

${jobs.flatMap(jobLines).join("\n")}

main() {
  trap '' HUP PIPE
  local run=${quote(runDir)} output=${quote(outputPath.replace(/\/+$/, ""))} user found lock name job line wait
  local ids=() missing=() seen='' unsure='' unrecorded=''
  local known=${quote(` ${known.join(" ")} `)} locale=\${LC_ALL-} recorded=$'^([^\\t]+)\\t([0-9]+)\\t(.*)$'
  local -A previous=() barred=() ours=() id=() cluster=() error=() of=() state=()
  # shellcheck disable=SC2034 # cancel_jobs fills it
  local -A gone=()
  local names=(${quoteAll(jobs.map((job) => job.benchmark))}) mounts=(${quoteAll(submission.mountSources)})
  local members=(${quoteAll(submission.benchmarks)}) # of the run directory
  export LC_ALL=C
  user=$(id -un)
  umask "$(printf '%04o' $(($(umask) | 022)))" # the user's own, but never group-writable
  unset "\${!SBATCH_@}" "\${!SQUEUE_@}"         # they would beat the script's directives, and hide jobs
  command -v sbatch >/dev/null && command -v squeue >/dev/null || return 90
  { mkdir -p -- ${quote(outputPath)} && [[ -w ${quote(outputPath)} && -x ${quote(outputPath)} ]]; } || return 91
  for line in "\${mounts[@]}"; do [[ -e $line ]] || missing+=("$line"); done
  if ((\${#missing[@]})); then printf '%s\\n' "\${missing[@]}"; return 92; fi
  lock=${stackLock(outputPath, stack)} # first this one, then that of the run directory, for which cancels wait too
  exec 8>>"$lock" && chmod 600 "$lock" && flock -w 120 8 || { echo "$lock" >&2; return 93; }
  mkdir -p -- "$run" && cd -- "$run" || return 91
  exec 9>>submit.lock && flock -w 120 9 || { echo "$run/submit.lock" >&2; return 93; }
  { : >>submit.ids && : >>submit.err && chmod 600 submit.lock submit.ids submit.err; } || return 94
  [[ ! $(tail -c 1 submit.ids) ]] || printf '\\n' >>submit.ids || return 94
${jobs.map((job) => `  of[${quote(job.jobDir)}]=${quote(job.benchmark)}`).join("\n")}
${jobs.flatMap(previousLine).join("\n")}
  for line in ${quoteAll(submission.knownDirs)}; do ours[$line]=1; done
  while IFS= read -r line; do # a line that was cut short is no record
    [[ $line =~ $recorded && "$known" != *" \${BASH_REMATCH[2]} "* ]] || continue
    name=\${BASH_REMATCH[1]} id[$name]=\${BASH_REMATCH[2]} cluster[$name]=\${BASH_REMATCH[3]}
  done <submit.ids
  find_jobs || return
  bar_doubles
${putLines(runDir, submission.files)
	.map((line) => `  ${line}`)
	.join("\n")}
${jobs.flatMap(stageLines).join("\n")}
  put "$run/gym-job.json" 644 "$(record "$run")" || return 94 # who lost the state can find the run by it
  point submit.staged
  for name in "\${names[@]}"; do
    ! is_open "$name" || submit "$name" "$run/$name"
    point submit.recorded
  done
  for wait in 1 4 10; do # a busy controller: it may queue late what it said it did not
    missing=()
    for name in "\${names[@]}"; do ! busy "$name" || missing+=("$name"); done
    ((\${#missing[@]})) || break
    sleep "$wait"
    find_jobs || break
    for name in "\${missing[@]}"; do ! is_open "$name" || submit "$name" "$run/$name"; done
  done
  [[ ! $unsure ]] || find_jobs
  [[ ! $unrecorded ]] || return 94 # held as they are, the next exchange finds them
  for name in "\${names[@]}"; do
    # A refused job needs no secrets; after a busy controller's answer it may be queued late.
    [[ \${id[$name]-} ]] || { busy "$name" || rm -f -- "$name/.env"; continue; }
    ids+=("\${id[$name]}")
  done
${jobs.flatMap(replaceLines).join("\n")}
  point submit.release
  ((\${#ids[@]} == 0)) || release "\${ids[@]}"
  point submit.released
  put "$run/gym-job.json" 644 "$(record "$run")" || return 94
  point submit.written
  printf 'who\\t%s\\t%s\\n' "$user" "$(date +%s)"
  for name in "\${names[@]}"; do
    job=\${id[$name]-}
    printf 'job\\t%s\\t%s\\t%s\\t%s\\t%s\\n' "$name" "$job" "\${cluster[$name]-}" "\${state[\${job:-none}]-}" \\
      "$([[ $job ]] || printf '%s' "\${error[$name]-}" | base64 -w0)"
  done
}
record() { # text of gym-job.json
  local at name job sep=
  at=$(date -u +%Y-%m-%dT%H:%M:%SZ); [[ ! -s submitted-at ]] || at=$(<submitted-at)
  printf '%s\\n' "$at" >submitted-at
  printf '%s' ${quote(openRecord(submission))}
  printf ',\\n  "submitted_at": %s,\\n  "submitted_by": %s,\\n  "benchmarks": [' "$(text "$at")" "$(text "$user")"
  for name in "\${members[@]}"; do
    job=\${id[$name]-}
    printf '%s\\n    {"benchmark": %s, "job_dir": %s, "job_id": %s, "error": %s}' "$sep" "$(text "$name")" "$(text "$1/$name")" \\
      "$([[ $job ]] && text "$job" || printf null)" "$([[ $job ]] && printf null || text "\${error[$name]-}")"
    sep=,
  done
  printf '\\n  ]\\n}\\n'
}
main
`;
}
