/**
 * What differs between the schedulers in the text of a job: how a step is started and ended, how the nodes are
 * known, how a service is asked. Everything else of the script is the same.
 */
import type { Directive, Job, StepBase } from "../model.ts";

/** What a step's process is started with. */
export interface StepOptions {
	/** Does the step see the benchmark's directory, or work in it? In a container it works where the image says otherwise. */
	readonly benchDir: "hidden" | "mounted" | "working";
	/** Is none of the node's GPUs meant for it? */
	readonly hidesGpus: boolean;
	/** The command inside, as bash words. */
	readonly command: string;
}

/** Texts of one kind of compute. */
export interface Platform {
	/** Comment lines that the scheduler reads, below the script's first lines; empty for none. */
	directives(directives: readonly Directive[]): string;
	/**
	 * Bash functions: `launch LOG FUNCTION` starts a step in the background, `stop_steps` ends what is alive,
	 * `stop_step NAME` asks one to end, `probe HOST PORT PATH` is true when a service answers well.
	 */
	readonly functions: string;
	/**
	 * Bash functions of a chain: `look_back JOB` sets gym_state and gym_elapsed, true when the state is final, and
	 * gym_forgotten when nobody will ever know; `find_next` prints a successor that is queued already; `submit_next`
	 * queues one and prints its id; `drop_next JOB` takes it back.
	 */
	readonly chain: string;
	/** Bash expression, for double quotes, of one address of a node. */
	address(node: number): string;
	/** Finds the nodes and exports what is known of them. */
	setUp(job: Job): string;
	/** The last line of a step's start function: becomes the step. */
	step(step: StepBase, options: StepOptions): string;
}
