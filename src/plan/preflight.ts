/** What a look at the cluster says about whether a submission can work. Pure. */
import type { PreflightResult } from "../cluster/scheduler.ts";
import type { Problem } from "../errors.ts";
import type { SourceMap, SubmitConfig } from "../submit/config.ts";
import { onlyCompute } from "../submit/nodes.ts";
import { mountSource, parts } from "../submit/parts.ts";
import type { Path } from "../submit/path.ts";
import { collector } from "../submit/rules/collect.ts";
import { checkLimits } from "./limits.ts";

/** Where a bind-mount source is named: each list item. */
function mountPaths(config: SubmitConfig, source: string): readonly Path[] {
	return parts(config).flatMap(({ path, part }) =>
		part.mounts.flatMap((mount, index) =>
			mountSource(mount) === source ? [[...path, "mounts", index]] : [],
		),
	);
}

/**
 * Problems that a submission would meet on the cluster, with their place in the document.
 * @param label the cluster as people know it
 */
export function checkCluster(
	result: PreflightResult,
	config: SubmitConfig,
	label: string,
	sources?: SourceMap,
): readonly Problem[] {
	const { report, problems } = collector(sources);
	const [name, compute] = onlyCompute(config);
	const host = ["compute", name, "hostname"];
	if (!result.sbatch) {
		report(
			"error",
			"no-sbatch",
			host,
			`sbatch is not on PATH on ${label}`,
			"name the login node of the cluster",
		);
	}
	if (!result.pyxis) {
		const message = `srun on ${label} does not know --container-image: the Pyxis plugin is missing`;
		report("error", "no-pyxis", host, message, "ask the site for Pyxis; every step runs in a container");
	}
	if (!result.writable) {
		const message = `${config.job.output_path} cannot be made or written on ${label}`;
		const remedy = "choose a folder that you may write on the cluster";
		report("error", "output-path-not-writable", ["job", "output_path"], message, remedy);
	}
	for (const source of result.missingMounts) {
		const message = `mount source ${source} does not exist on ${label}`;
		for (const path of mountPaths(config, source))
			report("error", "mount-missing", path, message, "create it, or correct the path");
	}
	if (compute.type === "slurm" && result.limits) checkLimits(name, compute, result.limits, report);
	return problems;
}
