/** Steps: the script that runs inside one, and the function that starts it. */
import type { Job, ServiceStep, StepBase } from "../model.ts";
import { carryLines, receiveLines } from "./env.ts";
import { textFunction } from "./heredoc.ts";
import type { Platform } from "./platform.ts";

/** The script of a service's step: its variables, then what its shape runs. */
export function serviceText(step: ServiceStep): string {
	return [...receiveLines(step), step.script].join("\n");
}

/**
 * Functions `script_<word>` (prints what runs inside the step) and `start_<word>` (becomes the step).
 * @param text what runs inside
 * @param options.benchDir the step sees the benchmark's directory
 * @param options.args arguments of the script, as bash words
 */
export function stepFunctions(
	step: StepBase,
	text: string,
	platform: Platform,
	options: { readonly benchDir: boolean; readonly args: string },
): string {
	const command = `bash -c "$(script_${step.word})"${options.args}`;
	const lines = [...carryLines(step), platform.step(step, { benchDir: options.benchDir, command })];
	return [
		textFunction(`script_${step.word}`, text, "STEP"),
		`start_${step.word}() {\n${lines.map((line) => `\t${line}`).join("\n")}\n}`,
	].join("\n");
}

/** The services' functions, in the order of the document. */
export function serviceFunctions(job: Job, platform: Platform): string {
	return job.services
		.map((step) => stepFunctions(step, serviceText(step), platform, { benchDir: false, args: "" }))
		.join("\n\n");
}
