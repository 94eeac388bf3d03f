/** Benchmarks: what excludes what, and chains. */
import { isMinutesAndSeconds, limitSeconds } from "../duration.ts";
import { onlyCompute } from "../nodes.ts";
import type { Path } from "../path.ts";
import type { Report, Rule } from "./report.ts";

/** `command` runs instead of `gym eval run`, and knows nothing of its cache. */
export const commandAlone: Rule = (config, report) => {
	for (const [name, benchmark] of config.driver.benchmarks) {
		if (benchmark.command === null) continue;
		const also = [
			...(benchmark.run.size > 0 ? ["run"] : []),
			...(benchmark.resumable === false ? [] : ["resumable"]),
		];
		if (also.length === 0) continue;
		const message = `command cannot be combined with ${also.join(" or ")}`;
		const path = ["driver", "benchmarks", name, "command"];
		report("error", "command-combined", path, message, `remove ${also.join(" and ")}, or command`);
	}
};

/** A chain without a cap resubmits timeouts for ever. */
export const chainCapped: Rule = (config, report) => {
	for (const [name, { resumable }] of config.driver.benchmarks) {
		if (resumable === false || (resumable !== true && limitSeconds(resumable.max_walltime) !== null))
			continue;
		const message = "no cap: a run that never finishes is resubmitted after every timeout";
		const path = ["driver", "benchmarks", name, "resumable"];
		report("warning", "no-walltime-cap", path, message, "set resumable.max_walltime");
	}
};

function noteMinutes(text: string | null, path: Path, report: Report): void {
	if (text === null || !isMinutesAndSeconds(text)) return;
	const [minutes, seconds] = text.split(":").map(Number);
	const reading = seconds ? `${minutes} minutes ${seconds} seconds` : `${minutes} minutes`;
	report(
		"note",
		"minutes-and-seconds",
		path,
		`${JSON.stringify(text)} is read as ${reading}`,
		`for hours write ${text}:00`,
	);
}

/** `48:00` is 48 minutes to Slurm, which few expect. */
export const durationsMeant: Rule = (config, report) => {
	const [compute, { walltime }] = onlyCompute(config);
	noteMinutes(walltime, ["compute", compute, "walltime"], report);
	for (const [name, { resumable }] of config.driver.benchmarks) {
		if (typeof resumable === "boolean") continue;
		noteMinutes(resumable.max_walltime, ["driver", "benchmarks", name, "resumable", "max_walltime"], report);
	}
};
