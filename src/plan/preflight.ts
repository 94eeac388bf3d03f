/** What a look at the cluster says about whether a submission can work. Pure. */
import type { ClusterRef } from "../../state/document.ts";
import type { PreflightResult } from "../cluster/scheduler.ts";
import type { Problem } from "../errors.ts";

/** Problems that a submission would meet on the cluster. */
export function checkCluster(
	result: PreflightResult,
	cluster: ClusterRef,
	label: string,
): readonly Problem[] {
	const problems: Problem[] = [];
	const error = (code: string, at: string, message: string, remedy: string) =>
		problems.push({ code, severity: "error", at, message, remedy });
	if (!result.sbatch) {
		error(
			"no-sbatch",
			`compute.${cluster.name}.hostname`,
			`sbatch is not on PATH on ${label}`,
			"name the login node of the cluster",
		);
	}
	if (!result.pyxis) {
		error(
			"no-pyxis",
			`compute.${cluster.name}.hostname`,
			`srun on ${label} does not know --container-image: the Pyxis plugin is missing`,
			"ask the site for Pyxis; every step runs in a container",
		);
	}
	if (!result.writable) {
		error(
			"output-path-not-writable",
			"job.output_path",
			`${cluster.outputPath} cannot be made or written on ${label}`,
			"choose a folder that you may write on the cluster",
		);
	}
	for (const source of result.missingMounts) {
		error(
			"mount-missing",
			"",
			`mount source ${source} does not exist on ${label}`,
			"create it, or correct the path",
		);
	}
	return problems;
}
