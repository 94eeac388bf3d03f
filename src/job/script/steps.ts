/** Steps: the script that runs inside one, and the function that starts it. */
import type { Job, Placement, ServiceStep, StepBase } from "../model.ts";
import { carryLines, receiveLines } from "./env.ts";
import { textFunction } from "./heredoc.ts";
import { quote } from "./quote.ts";

/** The script of a service's step: its variables, then what its shape runs. */
export function serviceText(step: ServiceStep): string {
	return [...receiveLines(step), step.script].join("\n");
}

/** Bash expression for the hosts of a placement, comma-joined. */
export function hostList({ first, count }: Placement): string {
	return count === 1 ? `\${gym_hosts[${first}]}` : `$(hosts ${first} ${count})`;
}

/** A `--container-mounts` option; the driver also sees the benchmark's directory, at the same path. */
function mountsOption(mounts: readonly string[], benchDir: boolean): readonly string[] {
	const all = [...(benchDir ? ['"$gym_bench:$gym_bench"'] : []), ...mounts.map((mount) => quote(mount))];
	return all.length === 0 ? [] : [`--container-mounts=${all.join(",")}`];
}

/**
 * Functions `script_<word>` (prints what runs inside the step) and `start_<word>` (becomes its srun).
 * @param text what runs inside
 * @param options.benchDir mount the benchmark's directory
 * @param options.args arguments of the script, as bash words
 */
export function stepFunctions(
	step: StepBase,
	text: string,
	options: { readonly benchDir: boolean; readonly args: string },
): string {
	const { first, count } = step.hosts;
	const carry = carryLines(step);
	const srun = [
		`exec srun --overlap --job-name=${quote(step.id)}`,
		`--nodes=${count} --ntasks=${count} --ntasks-per-node=1 --nodelist="${hostList({ first, count })}"`,
		`--no-container-mount-home --container-image=${quote(step.container)}`,
		...mountsOption(step.mounts, options.benchDir),
		`bash -c "$(script_${step.word})"${options.args}`,
	].join(" \\\n\t\t");
	return [
		textFunction(`script_${step.word}`, text, "STEP"),
		`start_${step.word}() {\n${[...carry, srun].map((line) => `\t${line}`).join("\n")}\n}`,
	].join("\n");
}

/** The services' functions, in the order of the document. */
export function serviceFunctions(job: Job): string {
	return job.services
		.map((step) => stepFunctions(step, serviceText(step), { benchDir: false, args: "" }))
		.join("\n\n");
}
