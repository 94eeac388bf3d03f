/** Images and folders. */
import { onlyCompute } from "../nodes.ts";
import type { Path } from "../path.ts";
import type { Rule } from "./report.ts";

/** Jobs write under an absolute folder; a local one may lie beside the gymfile. */
export const outputPathAbsolute: Rule = (config, report) => {
	const { output_path } = config.job;
	const [, compute] = onlyCompute(config);
	const expands = /^~|\$/.test(output_path);
	if (!expands && (output_path.startsWith("/") || compute.type === "local")) return;
	const message = expands
		? `${JSON.stringify(output_path)}: ~ and $ are not expanded`
		: `${JSON.stringify(output_path)} is not an absolute path`;
	report("error", "output-path-not-absolute", ["job", "output_path"], message, "write the absolute path");
};

/** Images that Pyxis would take for something else. */
export const imagesReadable: Rule = (config, report) => {
	const check = (container: string | null, path: Path) => {
		if (container === null) return;
		if (container.startsWith("dockerd://")) {
			const message = "images of a Docker daemon are not supported: Pyxis asks a registry or reads a file";
			report("error", "image-dockerd", path, message, "push it to a registry, or make a .sqsh file of it");
		} else if (/\.sqsh$/.test(container) && !container.includes("/")) {
			const message = `${JSON.stringify(container)} is taken for an image of a registry`;
			report(
				"warning",
				"image-file",
				path,
				message,
				`for a file write its path, e.g. ./${container} or an absolute one`,
			);
		}
	};
	for (const [name, service] of config.services) {
		check(service.container, ["services", name, "container"]);
		if (service.type !== "vllm_pd") continue;
		for (const tier of ["prefill", "decode"] as const) {
			if (service[tier].container === service.container) continue;
			check(service[tier].container, ["services", name, tier, "container"]);
		}
	}
	check(config.driver.container, ["driver", "container"]);
	if (config.otel.enabled) check(config.otel.container, ["otel", "container"]);
};

/** Where jobs are processes of this machine, containers are not used. */
export const containersUsed: Rule = (config, report) => {
	const [, compute] = onlyCompute(config);
	if (compute.type !== "local") return;
	for (const [name, service] of config.services) {
		if (service.container === "") continue;
		report(
			"note",
			"container-ignored",
			["services", name, "container"],
			"ignored: local jobs use no containers",
		);
	}
};
