/**
 * The observe exchange: one look at the queue, the accounting and the run directories. It changes nothing.
 * Its answer is a list of sections in base64, because file contents are anything.
 */
import { quote, quoteAll } from "../../job/script/quote.ts";
import {
	CHAIN_FILES,
	JOURNAL_LIMIT,
	type PreflightQuery,
	type RunFiles,
	type RunQuery,
} from "../scheduler.ts";
import { accountingCommand } from "./accounting.ts";
import { LIMIT_COMMANDS } from "./limits.ts";
import { NAMED_CLUSTERS_FUNCTION } from "./named-clusters.ts";
import { queueCommand } from "./queue.ts";
import { ROLLOUTS_FUNCTIONS, rolloutsLine } from "./rollouts-script.ts";

/** Seconds that one question to a program of Slurm may take, and all of a look together. */
const TRY = 20;
const LOOK = 60;

function runLines(query: RunQuery, index: number): readonly string[] {
	const ids = quote(`${query.runDir}/submit.ids`);
	return [
		`cd -- ${quote(query.jobDir)} 2>/dev/null && {`,
		`  section ${index}:dir <<<yes`,
		`  for f in ends/*[0-9]; do [[ ! -f $f ]] || section "${index}:end:\${f##*/}" <"$f"; done`,
		`  for f in ${["control", ...CHAIN_FILES].join(" ")}; do [[ ! -f $f ]] || section "${index}:$f" <"$f"; done`,
		`  [[ ! -f chain.jsonl ]] || tail -c ${JOURNAL_LIMIT} chain.jsonl | section ${index}:chain.jsonl`,
		`  [[ ! -f ${ids} ]] || section ${index}:ids <${ids}`,
		...(query.rolloutsOffset === null
			? []
			: [
					"  f=artifacts/rollouts_materialized_inputs.jsonl",
					`  [[ ! -f $f ]] || wc -l <"$f" | section ${index}:expected`,
				]),
		"}",
		...rolloutsLine(query, index),
	];
}

function preflightLines({ outputPath, mountSources }: PreflightQuery): readonly string[] {
	return [
		"command -v sbatch >/dev/null && command -v scontrol >/dev/null && section sbatch <<<yes",
		`if [[ "$(timeout ${TRY} srun --help 2>&1 </dev/null)" == *--container-image* ]]; then section pyxis <<<yes; fi`,
		`f=${quote(outputPath)}; while [[ ! -e $f && $f == */* && $f != / ]]; do f=\${f%/*}; f=\${f:-/}; done`,
		"if [[ -d $f && -w $f && -x $f ]]; then section writable <<<yes; fi",
		`local mounts=(${quoteAll(mountSources)})`,
		`for f in "\${mounts[@]}"; do [[ -e $f ]] || printf '%s\\n' "$f"; done | section mounts`,
		...Object.entries(LIMIT_COMMANDS).map(([name, command]) => `ask 1 ${name} ${command}`),
	];
}

/** Ids of a cluster that was named are asked for there and here: nobody knows yet which job went where. */
function accountingLines(queries: readonly RunQuery[]): readonly string[] {
	if (queries.length === 0) return [];
	const ids = queries.flatMap((query) => query.jobIds);
	return [
		`ids=${quote(ids.join(","))}$(later_ids ${quoteAll(queries.map((query) => query.jobDir))})`,
		"ids=${ids#,}",
		"if [[ $ids ]] && command -v sacct >/dev/null; then",
		`  ask 3 accounting ${accountingCommand('"$ids"')}`,
		`  for f in "\${clusters[@]}"; do ask 3 "accounting@$f" ${accountingCommand('"$ids"', '-M "$f"')}; done`,
		"fi",
	];
}

/**
 * The bash function `later_ids JOB-DIR…`: ids of jobs that the chains queued themselves, each behind a comma, the
 * newest ones.
 */
const LATER_IDS_FUNCTION = `later_ids() {
  local dir
  for dir; do
    [[ ! -d $dir ]] || printf '%s\\n' "$dir"/ends/*[0-9] | sed 's,.*/,,'
    [[ ! -f $dir/chain.jsonl ]] || tail -c ${JOURNAL_LIMIT} "$dir/chain.jsonl" | grep -oE '"(job|next)":"?[0-9]+' | grep -oE '[0-9]+'
  done | grep -xE '[0-9]+' | sort -un | tail -n 500 | sed 's/^/,/' | tr -d '\\n'
}`;

/** The bash function `section NAME`: answers with its input as one section, which `parseSections` reads. */
export const SECTION_FUNCTION = `section() {
  printf '%s ' "$1"; base64 -w0; printf '\\n'
}`;

/**
 * Text of the exchange. Slurm's controller is asked before its database, and nothing more is asked of them once an
 * answer was late: a daemon that hangs costs one try, not one for each question.
 */
export function observeScript(queries: readonly RunQuery[], preflight: PreflightQuery | null): string {
	const runDirs = [...new Set(queries.map((query) => query.runDir))];
	const lines = [
		`named_clusters ${quoteAll(runDirs)}`,
		`ask 3 queue ${queueCommand()}`,
		`for f in "\${clusters[@]}"; do ask 3 "queue@$f" ${queueCommand('-M "$f"')}; done`,
		'((${#clusters[@]} == 0)) || section clusters <<<"${clusters[*]}"',
		...(preflight ? preflightLines(preflight) : []),
		...accountingLines(queries),
		...queries.flatMap(runLines),
		"send_rollouts",
	];
	return `# Looks at the queue, the accounting and ${queries.length} run(s). Changes nothing.
main() {
  local f user ids late=''; local -a clusters files=() offsets=(); user=$(id -un)
  export LC_ALL=C SLURM_TIME_FORMAT=%s
  SECONDS=0
  command -v squeue >/dev/null || return 90
  section who <<<"$user $(date '+%s %z')"
${lines.map((line) => `  ${line}`).join("\n")}
  return 0 # a run directory that is not there is an answer, not a failure
}
${SECTION_FUNCTION}
${NAMED_CLUSTERS_FUNCTION}
${LATER_IDS_FUNCTION}
${ROLLOUTS_FUNCTIONS}
in_time() { # COMMAND...: what it says; 9: it says that there is no accounting
  local left=$((${LOOK} - SECONDS))
  [[ ! $late ]] && ((left > 0)) || return 124
  set -o pipefail
  { timeout -k 1 "$((left < ${TRY} ? left : ${TRY}))" "$@" 2>&1 >&3 </dev/null |
    if grep -q 'accounting storage is disabled'; then exit 9; fi; } 3>&1
}
ask() { # TRIES NAME COMMAND...: then silence, which is never "nothing there"
  local tries=$1 name=$2 said try; shift 2
  for ((try = 1; try <= tries; try++)); do
    said=$(in_time "$@")
    case $? in
    0) section "$name" <<<"$said"; return ;;
    9) return ;;
    124 | 137) late=1; return ;;
    esac
    ((try == tries)) || sleep "$try"
  done
}
main
`;
}

/** Sections of an observe answer by name, decoded. */
export function parseSections(stdout: string): ReadonlyMap<string, Buffer> {
	const sections = new Map<string, Buffer>();
	for (const line of stdout.split("\n")) {
		const space = line.indexOf(" ");
		if (space > 0) sections.set(line.slice(0, space), Buffer.from(line.slice(space + 1), "base64"));
	}
	return sections;
}

/**
 * The texts of one question that was also put to each cluster that was named; null when one of them did not answer,
 * because then nothing follows from what is not there.
 */
export function answersOf(
	sections: ReadonlyMap<string, Buffer>,
	name: "queue" | "accounting",
): readonly string[] | null {
	const clusters = (sections.get("clusters")?.toString("utf8") ?? "").split(/\s+/).filter(Boolean);
	const texts = [name, ...clusters.map((cluster) => `${name}@${cluster}`)].map((one) => sections.get(one));
	return texts.every((text) => text !== undefined) ? texts.map((text) => text.toString("utf8")) : null;
}

/** What the sections say of the `index`-th query. */
export function runFiles(sections: ReadonlyMap<string, Buffer>, index: number, benchmark: string): RunFiles {
	const text = (name: string) => sections.get(`${index}:${name}`)?.toString("utf8") ?? null;
	const ends = new Map<string, string>();
	for (const [name, content] of sections) {
		const prefix = `${index}:end:`;
		if (name.startsWith(prefix)) ends.set(name.slice(prefix.length), content.toString("utf8"));
	}
	const recorded = (text("ids") ?? "")
		.split("\n")
		.map((line) => line.split("\t"))
		// A line that a full disk cut short is no record.
		.filter(([name, , ...rest]) => name === benchmark && rest.length > 0);
	const expected = text("expected");
	return {
		exists: sections.has(`${index}:dir`),
		ends,
		chain: text("chain.jsonl"),
		control: text("control"),
		chainFiles: new Map(CHAIN_FILES.flatMap((name) => (text(name) === null ? [] : [[name, text(name)!]]))),
		recordedIds: recorded.map(([, id]) => id!),
		expected: expected === null ? null : Number(expected.trim()),
		rollouts: sections.get(`${index}:rollouts`) ?? null,
		rolloutsCut: sections.has(`${index}:cut`),
	};
}
