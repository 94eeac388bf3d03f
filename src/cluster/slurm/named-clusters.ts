/**
 * Clusters of a federation that sbatch named in its answers. Slurm's programs speak of the login node's own cluster
 * unless they are told otherwise, and the same job id may be another job there.
 */

/**
 * The bash function `named_clusters RUN-DIR…`: fills the array `clusters` with those that `submit.ids` of these runs
 * names, each once. A job of one is asked about, released or cancelled with `-M CLUSTER` before the other arguments,
 * e.g. `for c in '' "${clusters[@]}"; do squeue ${c:+-M "$c"} …; done`.
 */
export const NAMED_CLUSTERS_FUNCTION = `named_clusters() {
  local run name; clusters=()
  for run; do
    while IFS=$'\\t' read -r _ _ name; do
      [[ ! $name =~ ^[A-Za-z0-9][A-Za-z0-9_.-]*$ || " \${clusters[*]} " == *" $name "* ]] || clusters+=("$name")
    done 2>/dev/null <"$run/submit.ids"
  done
}`;
