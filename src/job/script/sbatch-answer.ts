/**
 * The bash function `answer STDOUT STDERR`: prints the id of the job that sbatch queued and the cluster that it named.
 * Notices before and after, on either stream, are no answer.
 */
export const SBATCH_ANSWER = `answer() { # STDOUT STDERR: "ID CLUSTER" in what sbatch said: its sentence, or on stdout a line that is only an id
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
