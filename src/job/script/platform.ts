/**
 * What differs between the schedulers in the text of a job: how a step is started and ended, how the nodes are
 * known, how a service is asked. Everything else of the script is the same.
 */
import type { Directive, Job, StepBase } from "../model.ts";

/** What a step's process is started with. */
export interface StepOptions {
	/** Does it see the benchmark's directory? */
	readonly benchDir: boolean;
	/** The command inside, as bash words. */
	readonly command: string;
}

/** Texts of one kind of compute. */
export interface Platform {
	/** Comment lines that the scheduler reads, below the script's first lines; empty for none. */
	directives(directives: readonly Directive[]): string;
	/**
	 * Bash functions: `launch LOG FUNCTION` starts a step in the background, `stop_steps` ends what is alive,
	 * `probe HOST PORT PATH` is true when a service answers well.
	 */
	readonly functions: string;
	/** Finds the nodes and exports what is known of them. */
	setUp(job: Job): string;
	/** The last line of a step's start function: becomes the step. */
	step(step: StepBase, options: StepOptions): string;
}
