/** The mappings of extra `#SBATCH` directives in a document. */
import type { ExtraDirectives, SubmitConfig } from "../config.ts";
import { nodePools, onlyCompute } from "../nodes.ts";
import type { Path } from "../path.ts";

/** Every `extra_args` mapping with its path: the compute's, then each pool's. */
export function directiveSets(
	config: Pick<SubmitConfig, "compute">,
): readonly (readonly [path: Path, directives: ExtraDirectives])[] {
	const [name, compute] = onlyCompute(config);
	if (compute.type !== "slurm") return [];
	const pools = [...nodePools(config)].map(
		([pool, { extra_args }]) => [["compute", name, "node_pools", pool, "extra_args"], extra_args] as const,
	);
	return [[["compute", name, "extra_args"], compute.extra_args], ...pools];
}

/** Whether the job takes its nodes whole: `exclusive` alone, not shared with the user's other jobs. */
export function takesWholeNodes(config: Pick<SubmitConfig, "compute">): boolean {
	return directiveSets(config).some(([, directives]) => directives.get("exclusive") === true);
}
