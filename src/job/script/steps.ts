/** Steps: the script that runs inside one, and the function that starts it. */
import type { Job, ServiceStep, StepBase } from "../model.ts";
import { carryLines, receiveLines } from "./env.ts";
import { textFunction } from "./heredoc.ts";
import type { Platform, StepOptions } from "./platform.ts";

/** The script of a service's step: its variables, then what its shape runs. */
export function serviceText(step: ServiceStep): string {
	return [...receiveLines(step), step.script].join("\n");
}

/**
 * Functions `script_<word>` (prints what runs inside the step) and `start_<word>` (becomes the step).
 * @param text what runs inside
 * @param options.benchDir the step sees the benchmark's directory
 * @param options.args arguments of the script, as bash words
 * @param options.gpus the allocation has GPUs
 */
export function stepFunctions(
	step: StepBase,
	text: string,
	platform: Platform,
	options: { readonly benchDir: StepOptions["benchDir"]; readonly args: string; readonly gpus: boolean },
): string {
	const command = `bash -c "$(script_${step.word})"${options.args}`;
	const lines = [
		...carryLines(step),
		platform.step(step, { benchDir: options.benchDir, hidesGpus: options.gpus && !step.usesGpus, command }),
	];
	return [
		textFunction(`script_${step.word}`, text, "STEP"),
		`start_${step.word}() {\n${lines.map((line) => `\t${line}`).join("\n")}\n}`,
	].join("\n");
}

/** Does the allocation ask for GPUs, so that a step without any has to say so? */
export function hasGpus(job: Job): boolean {
	return job.directives.some(({ key }) => key === "gpus-per-node");
}

/** The functions of the collector and the services, in the order in which they start. */
export function serviceFunctions(job: Job, platform: Platform): string {
	return awaited(job)
		.map((step) => {
			const args = [
				...(step.seesBench ? ['"$gym_bench"'] : []),
				...step.addresses.map((node) => `"${platform.address(node)}"`),
			];
			return stepFunctions(step, serviceText(step), platform, {
				benchDir: step.seesBench ? "working" : "hidden",
				gpus: hasGpus(job),
				// `$0` comes first.
				args: args.length === 0 ? "" : ` ${[step.word, ...args].join(" ")}`,
			});
		})
		.join("\n\n");
}

/** What has to be healthy before the run: the collector, then the services. */
export function awaited({ collector, services }: Job): readonly ServiceStep[] {
	return collector === null ? services : [collector.step, ...services];
}
