/**
 * The observe exchange: one look at the queue, the accounting and the run directories. It changes nothing.
 * Its answer is a list of sections, each with its length in bytes, because file contents are anything.
 */
import { quote, quoteAll } from "../../job/script/quote.ts";
import type { PreflightQuery, RunFiles, RunQuery } from "../scheduler.ts";
import { accountingCommand } from "./accounting.ts";
import { LIMIT_COMMANDS } from "./limits.ts";
import { queueCommand } from "./queue.ts";

/** Most bytes of all `rollouts.jsonl` together that one exchange carries (before base64); the rest comes with the next look. */
export const ROLLOUTS_LIMIT = 40 * 1024 * 1024;

function runLines(query: RunQuery, index: number, limit: number): string[] {
	const at = quote(query.jobDir);
	return [
		`cd -- ${at} 2>/dev/null && {`,
		`  section ${index}:dir <<<yes`,
		`  for f in ends/*[0-9]; do [[ ! -f $f ]] || section "${index}:end:\${f##*/}" <"$f"; done`,
		`  for f in control chain.jsonl; do [[ ! -f $f ]] || section "${index}:$f" <"$f"; done`,
		`  [[ ! -f ${quote(`${query.runDir}/submit.ids`)} ]] || section ${index}:ids <${quote(`${query.runDir}/submit.ids`)}`,
		...(query.rolloutsOffset === null
			? []
			: [
					"  f=artifacts/rollouts_materialized_inputs.jsonl",
					`  [[ ! -f $f ]] || wc -l <"$f" | section ${index}:expected`,
					"  f=artifacts/rollouts.jsonl",
					`  [[ ! -f $f ]] || tail -c +${query.rolloutsOffset + 1} "$f" | head -c ${limit} | section ${index}:rollouts`,
					`  [[ ! -f $f ]] || (($(wc -c <"$f") <= ${query.rolloutsOffset + limit})) || section ${index}:cut <<<yes`,
				]),
		"}",
	];
}

function preflightLines({ outputPath, mountSources }: PreflightQuery): string[] {
	return [
		"command -v sbatch >/dev/null && command -v scontrol >/dev/null && section sbatch <<<yes",
		'if [[ "$(srun --help 2>&1)" == *--container-image* ]]; then section pyxis <<<yes; fi',
		`f=${quote(outputPath)}; while [[ ! -e $f && $f == */* && $f != / ]]; do f=\${f%/*}; f=\${f:-/}; done`,
		"if [[ -d $f && -w $f && -x $f ]]; then section writable <<<yes; fi",
		`local mounts=(${quoteAll(mountSources)})`,
		`for f in "\${mounts[@]}"; do [[ -e $f ]] || printf '%s\\n' "$f"; done | section mounts`,
		...Object.entries(LIMIT_COMMANDS).map(([name, command]) => `once ${name} ${command}`),
	];
}

/** The bash function `section NAME`: answers with its input as one section, which `parseSections` reads. */
export const SECTION_FUNCTION = `section() {
  printf '%s ' "$1"; base64 -w0; printf '\\n'
}`;

/** Text of the exchange. */
export function observeScript(queries: readonly RunQuery[], preflight: PreflightQuery | null): string {
	const limit = Math.floor(ROLLOUTS_LIMIT / Math.max(1, queries.length));
	const ids = queries.flatMap((query) => query.jobIds);
	return `# Looks at the queue, the accounting and ${queries.length} run(s). Changes nothing.
main() {
  local f user; user=$(id -un)
  export LC_ALL=C SLURM_TIME_FORMAT=%s
  command -v squeue >/dev/null || return 90
  section who <<<"$user $(date '+%s %z')"
  ask queue ${queueCommand()}
${ids.length ? `  if command -v sacct >/dev/null; then ask accounting ${accountingCommand(ids)}; fi` : ""}
${[
	...(preflight ? preflightLines(preflight) : []),
	...queries.flatMap((query, index) => runLines(query, index, limit)),
]
	.map((line) => `  ${line}`)
	.join("\n")}
  return 0 # a run directory that is not there is an answer, not a failure
}
${SECTION_FUNCTION}
ask() { # NAME COMMAND...: three tries, then silence, which is never "nothing there"
  local name=$1 said try; shift
  for try in 1 2 3; do
    if said=$("$@" 2>/dev/null </dev/null); then section "$name" <<<"$said"; return; fi
    ((try == 3)) || sleep "$try"
  done
}
once() { # NAME COMMAND...: silent when there is no answer
  local name=$1 said; shift
  if said=$(timeout 20 "$@" 2>/dev/null </dev/null); then section "$name" <<<"$said"; fi
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
		recordedIds: recorded.map(([, id]) => id!),
		expected: expected === null ? null : Number(expected.trim()),
		rollouts: sections.get(`${index}:rollouts`) ?? null,
		rolloutsCut: sections.has(`${index}:cut`),
	};
}
