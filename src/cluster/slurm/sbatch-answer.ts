/**
 * What sbatch said. The bash functions `words` (cleans a program's output) and `answer STDOUT STDERR` (prints the
 * job's id and the cluster that sbatch named). Notices before and after, on either stream, are no answer.
 */
export const ANSWER_FUNCTIONS = `words() { # what a program said on stdin, without colours and carriage returns, as UTF-8
  sed $'s/\\e\\\\[[0-9;]*[A-Za-z]//g; s/\\r//g' | tr -d '\\000' | { iconv -c -f UTF-8 -t UTF-8 2>/dev/null || true; }
}
answer() { # STDOUT STDERR: "ID CLUSTER" in what sbatch said: its sentence, or on stdout a line that is only an id
  local line sentence='Submitted batch job ([1-9][0-9]*)( on cluster ([^[:space:]]+))?' said=
  local only='^[[:space:]]*([1-9][0-9]*)(;([^[:space:]]+))?[[:space:]]*$'
  while IFS= read -r line; do
    [[ ! $line =~ $only ]] || said="\${BASH_REMATCH[1]} \${BASH_REMATCH[3]}"
  done <<<"$1"
  while IFS= read -r line; do
    [[ ! $line =~ $sentence ]] || said="\${BASH_REMATCH[1]} \${BASH_REMATCH[3]}"
  done <<<"$2"$'\\n'"$1"
  printf '%s' "$said"
}`;
