/** Where a stack's jobs run. */
import { resolve } from "node:path";
import type { ClusterRef } from "../../state/document.ts";
import type { Stack } from "../io.ts";
import { onlyCompute } from "../submit/nodes.ts";

/** Where the jobs of a stack run. */
export function clusterOf({ config, root }: Stack): ClusterRef {
	const [name, compute] = onlyCompute(config);
	const { type } = compute;
	const { output_path } = config.job;
	if (compute.type === "local") return { type, name, hostname: null, outputPath: resolve(root, output_path) };
	return { type, name, hostname: compute.hostname, outputPath: output_path };
}
