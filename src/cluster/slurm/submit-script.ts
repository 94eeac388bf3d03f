/**
 * The submit exchange: one bash script that stages, submits held, records, releases and reports.
 *
 * Invariants it keeps, whatever dies when:
 * - a job is only ever submitted held, and only for a directory in which no job of ours is known, so a
 *   second run of the same script finds what the first left and goes on from there;
 * - its id stands in `submit.ids` before it is released;
 * - it goes on when the client is gone (HUP and PIPE ignored, output last), and a second exchange for the
 *   same run directory waits for its lock;
 * - any error of sbatch means "unknown": the queue is looked up before anything is repeated.
 */

import { quote, quoteAll } from "../../job/script/quote.ts";
import type { Points } from "../../points.ts";
import type { JobRequest, StagedFile, Submission } from "../scheduler.ts";
import { CANCEL_FUNCTION } from "./cancel-script.ts";
import { pointFunction } from "./point-function.ts";

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

function putLines(folder: string, files: ReadonlyMap<string, StagedFile>): string[] {
	return [...files].map(
		([name, file]) =>
			`put ${quote(`${folder}/${name}`)} ${file.mode.toString(8)} ${quote(file.text)} || return 94`,
	);
}

/** Name of the bash function that stages one benchmark; the mapping from names is one to one. */
function stageName(benchmark: string): string {
	return `stage_${benchmark.replaceAll(/[^A-Za-z0-9]/g, (c) => `_${c.charCodeAt(0).toString(16)}_`)}`;
}

function jobLines(job: JobRequest): string[] {
	return [
		`${stageName(job.benchmark)}() {`,
		`  mkdir -p -- ${quoteAll([`${job.jobDir}/logs`, `${job.jobDir}/artifacts`, `${job.jobDir}/model-calls`, `${job.jobDir}/ends`])} || return 94`,
		...putLines(job.jobDir, job.files).map((line) => `  ${line}`),
		"}",
	];
}

/** Only what is accepted may take an older run's place; it stays held while that one ends. */
function replaceLines({ benchmark, replaces }: JobRequest): string[] {
	if (replaces.length === 0) return [];
	return [
		`  if [[ -n \${id[${benchmark}]-} ]]; then`,
		`    cancel_jobs ${quoteAll(replaces)} || return`,
		"    [[ -z $found ]] || return 95",
		"  fi",
	];
}

function recordHead(submission: Submission): string {
	const { record } = submission;
	const fields = {
		gym_job_id: record.gymJobId,
		gym_version: record.gymVersion,
		gym_commit: null,
		run_dir: submission.runDir,
		cluster: record.cluster,
		executor: record.executor,
		hostname: record.hostname,
		executor_metadata: record.metadata,
		schema_version: 1,
	};
	return JSON.stringify(fields, null, 2).slice(0, -2);
}

/** Text of the exchange for one submission. `points.remote` names a point at which it kills itself (tests only). */
export function submitScript(submission: Submission, points: Points): string {
	const { runDir, outputPath, jobs } = submission;
	const forward = [...submission.forward].map(([name, value]) => `  export ${name}=${quote(value)}`);
	const known = jobs.flatMap((job) => job.knownIds);
	return `# Stages and submits ${jobs.length} job(s), exactly once each.
${pointFunction(points)}
${CANCEL_FUNCTION}
forward() {
${[...forward, "  :"].join("\n")}
}
put() { # PATH MODE TEXT: appears whole or not at all, and never readable for others before it is meant to be
  mkdir -p -- "\${1%/*}" && (umask 177 && printf '%s' "$3" >"$1.new") && chmod "$2" "$1.new" && mv -f -- "$1.new" "$1"
}
text() { # a JSON string
  local s=\${1//\\\\/\\\\\\\\}; s=\${s//\\"/\\\\\\"}; s=\${s//$'\\n'/\\\\n}; s=\${s//$'\\t'/\\\\t}
  printf '"%s"' "\${s//[[:cntrl:]]/}"
}
answer() { # the job id (and cluster) in what sbatch said: notices may stand before and after it
  local line found=
  while IFS= read -r line; do
    line=\${line//$'\\r'/}
    if [[ $line =~ ^[[:space:]]*([0-9]+)(\\;([^[:space:]]+))?[[:space:]]*$ ]]; then found="\${BASH_REMATCH[1]} \${BASH_REMATCH[3]}"
    elif [[ $line =~ Submitted\\ batch\\ job\\ ([0-9]+)(\\ on\\ cluster\\ ([^[:space:]]+))? ]]; then found="\${BASH_REMATCH[1]} \${BASH_REMATCH[3]}"; fi
  done
  printf '%s' "$found"
}
queue() { # what is queued or running of this user: ID|STATE|REASON|DIR, or fail
  local try
  for try in 1 2 3; do
    if seen=$(squeue -h -t all -u "$user" -o '%A|%T|%r|%Z' 2>>submit.err); then return 0; fi
    sleep "$try"
  done
  return 75
}
find_jobs() { # fills id[NAME] from the queue: the lowest of a directory stays, a held double of it goes
  local job state reason dir name
  while IFS='|' read -r job state reason dir; do
    name=\${of[$dir]-}
    [[ $job && $name && "$known" != *" $job "* ]] || continue
    case $state in PENDING | CONFIGURING | RUNNING | SUSPENDED | COMPLETING | STOPPED) ;; *) [[ \${recorded[$name]-} == "$job" ]] || continue ;; esac
    if [[ -z \${id[$name]-} || \${id[$name]} == "$job" ]]; then id[$name]=$job
    elif [[ $reason == JobHeldUser ]]; then scancel "$job" 2>>submit.err; fi
  done < <(sort -n <<<"$seen")
}
submit() { # NAME DIR: held; its id is on record before anything else happens
  local said got rc
  said=$(forward && exec sbatch -H --parsable --chdir="$2" "$2/job.sh" 2>submit.said </dev/null); rc=$?
  point submit.accepted
  got=$(answer <<<"$said"); [[ $got ]] || got=$(answer <submit.said)
  error[$1]=$(cat submit.said); cat submit.said >>submit.err
  [[ -n \${error[$1]} ]] || error[$1]=$said
  if ((rc == 0)) && [[ $got ]]; then accept "$1" "\${got%% *}" "\${got#* }"; else return 1; fi
}
accept() { # NAME ID CLUSTER
  id[$1]=$2; cluster[$1]=$3; unset "error[$1]"
  printf '%s\\t%s\\t%s\\n' "$1" "$2" "$3" >>submit.ids
}
busy() { [[ \${error[$1]-} =~ [Tt]imed\\ out|[Uu]nable\\ to\\ contact|temporarily\\ unavailable|[Tt]ry\\ again|Zero\\ Bytes|onnection ]]; }

${jobs.flatMap(jobLines).join("\n")}

main() {
  trap '' HUP PIPE
  export LC_ALL=C SLURM_TIME_FORMAT=%s
  local user found run=${quote(runDir)} name dir job line wait ids=() missing=() seen='' known=${quote(` ${known.join(" ")} `)}
  local -A done=() id=() cluster=() error=() of=() recorded=() state=()
  local names=(${quoteAll(jobs.map((job) => job.benchmark))})
  user=$(id -un)
  umask "$(printf '%04o' $(($(umask) | 022)))" # the user's own, but never group-writable
  unset "\${!SBATCH_@}"                        # they would beat the script's directives
  command -v sbatch >/dev/null && command -v squeue >/dev/null || return 90
  { mkdir -p -- ${quote(outputPath)} && [[ -w ${quote(outputPath)} && -x ${quote(outputPath)} ]]; } || return 91
  for line in ${quoteAll(submission.mountSources)}; do [[ -e $line ]] || missing+=("$line"); done
  if ((\${#missing[@]})); then printf '%s\\n' "\${missing[@]}"; return 92; fi
  mkdir -p -- "$run" && cd -- "$run" || return 91
  exec 9>>submit.lock && flock -w 120 9 || return 93  # an earlier exchange may still be at work
  chmod 600 submit.lock && : >>submit.ids && : >>submit.err && chmod 600 submit.err
${jobs.map((job) => `  of[${quote(job.jobDir)}]=${quote(job.benchmark)}`).join("\n")}
  while IFS=$'\\t' read -r name job line; do
    [[ $job && "$known" != *" $job "* ]] || continue
    recorded[$name]=$job; id[$name]=$job; cluster[$name]=$line
  done <submit.ids
  queue || return 75
  find_jobs
${putLines(runDir, submission.files)
	.map((line) => `  ${line}`)
	.join("\n")}
${jobs.map((job) => `  if [[ -z \${id[${job.benchmark}]-} ]]; then ${stageName(job.benchmark)} || return 94; fi`).join("\n")}
  point submit.staged
  for name in "\${names[@]}"; do
    [[ -n \${id[$name]-} ]] || submit "$name" "$run/$name"
    point submit.recorded
  done
  for wait in 1 4 10; do # a busy controller: it may queue late what it said it did not
    missing=()
    for name in "\${names[@]}"; do [[ -n \${id[$name]-} ]] || { busy "$name" && missing+=("$name"); }; done
    ((\${#missing[@]})) || break
    sleep "$wait"
    queue || break
    find_jobs
    for name in "\${missing[@]}"; do [[ -n \${id[$name]-} ]] || submit "$name" "$run/$name"; done
  done
  if ((\${#error[@]})) && queue; then find_jobs; fi
  for name in "\${names[@]}"; do
    # A refused job needs no secrets; after a busy controller's answer it may be queued late.
    [[ -n \${id[$name]-} ]] || { busy "$name" || rm -f -- "$name/.env"; continue; }
    [[ \${recorded[$name]-} == "\${id[$name]}" ]] || grep -qxF -- "$name"$'\\t'"\${id[$name]}"$'\\t'"\${cluster[$name]-}" submit.ids || accept "$name" "\${id[$name]}" "\${cluster[$name]-}"
    ids+=("\${id[$name]}")
  done
${jobs.flatMap(replaceLines).join("\n")}
  point submit.release
  ((\${#ids[@]} == 0)) || scontrol release "\${ids[@]}" 2>>submit.err
  point submit.released
  while IFS= read -r line; do state[\${line%%|*}]=\${line#*|}; done < <(
    ((\${#ids[@]} == 0)) || squeue -h -t all -u "$user" -o '%A|%T|%r|%V|%S' 2>>submit.err)
  record "$run" || return 94
  point submit.written
  printf 'who\\t%s\\t%s\\n' "$user" "$(date +%s)"
  for name in "\${names[@]}"; do
    job=\${id[$name]-}
    printf 'job\\t%s\\t%s\\t%s\\t%s\\t%s\\n' "$name" "$job" "\${cluster[$name]-}" "\${state[\${job:-none}]-}" \\
      "$([[ $job ]] || printf '%s' "\${error[$name]-no answer}" | base64 -w0)"
  done
}
record() { # gym-job.json, whole or not at all
  local at name sep=
  at=$(date -u +%Y-%m-%dT%H:%M:%SZ); [[ ! -s submitted-at ]] || at=$(<submitted-at)
  printf '%s\\n' "$at" >submitted-at
  {
    printf '%s' ${quote(recordHead(submission))}
    printf ',\\n  "submitted_at": %s,\\n  "submitted_by": %s,\\n  "benchmarks": [' "$(text "$at")" "$(text "$user")"
    for name in "\${names[@]}"; do
      printf '%s\\n    {"benchmark": %s, "job_dir": %s, "job_id": %s, "error": %s}' "$sep" "$(text "$name")" "$(text "$1/$name")" \\
        "$([[ -n \${id[$name]-} ]] && text "\${id[$name]}" || printf null)" "$([[ -n \${error[$name]-} ]] && text "\${error[$name]}" || printf null)"
      sep=,
    done
    printf '\\n  ]\\n}\\n'
  } >gym-job.json.new && mv -f gym-job.json.new gym-job.json
}
main
`;
}
