/**
 * The model of one benchmark's job: what runs where, as plain data. It is made from the validated submit
 * document and knows no run directory, no secret value and (but for what users wrote in shell) no shell.
 */

/** A contiguous range of the allocation's nodes, counted from 0. */
export interface Placement {
	readonly first: number;
	readonly count: number;
}

/** One variable of a step: a literal, a variable of the submitting shell, or one of the job's environment. */
export interface EnvEntry {
	readonly name: string;
	readonly kind: "lit" | "host" | "runtime";
	/** The literal itself, or the name of the variable that is read. */
	readonly value: string;
}

/** What has to answer before the run may begin. */
export interface Health {
	/** Node that is asked, counted from 0. */
	readonly node: number;
	readonly port: number;
	/** Begins with a slash. */
	readonly path: string;
	/** Seconds, counted from when everything declared before is healthy. */
	readonly timeout: number;
}

/** What every `srun` step has. */
export interface StepBase {
	/** Name of the step and of its log; letters, digits, `.`, `_` and `-`, unique in the job. */
	readonly id: string;
	/** The same as part of a shell name: lower case, digits and single `_`, unique in the job. */
	readonly word: string;
	/** Document path of what it came from. */
	readonly at: string;
	readonly hosts: Placement;
	readonly container: string;
	/** Bind mounts, each `src`, `src:dst` or `src:dst:flags`. */
	readonly mounts: readonly string[];
	readonly env: readonly EnvEntry[];
}

/** A server that the job starts, once on each of its nodes. */
export interface ServiceStep extends StepBase {
	/** Shell text that ends in the server; runs after the variables are set. */
	readonly script: string;
	readonly health: Health | null;
}

/** One argument of a program; `below` stands for a path below the benchmark's directory, put between the two texts. */
export type Argument = string | { readonly before: string; readonly below: string; readonly after: string };

/** A piece of text for a shell: literal, or the value of a variable. */
export type TextPiece = string | { readonly variable: string };

/** How the policy model is reached; for a benchmark's own command. */
export interface PolicyAccess {
	readonly baseUrl: readonly TextPiece[];
	readonly modelName: string;
	readonly apiKey: string;
}

/** What the driver runs when all services are healthy. */
export type Program =
	| { readonly kind: "gym"; readonly args: readonly Argument[] }
	| { readonly kind: "command"; readonly text: string; readonly policy: PolicyAccess | null };

/** The step that runs the benchmark: install, prepare, then (when the services are healthy) the program. */
export interface DriverStep extends StepBase {
	readonly install: { readonly repo: string; readonly ref: string } | null;
	/** Arguments of `gym eval prepare`; null when there is nothing to prepare. */
	readonly prepare: readonly string[] | null;
	readonly program: Program;
}

/** A pool's nodes, exported as `GYM_POOL_<NAME>_NODES`. */
export interface PoolRange {
	/** The whole variable name. */
	readonly variable: string;
	readonly hosts: Placement;
}

/** One `#SBATCH` directive; a null value is the flag alone. */
export interface Directive {
	readonly key: string;
	readonly value: string | null;
}

/** One benchmark's job. */
export interface Job {
	/** The kind of compute that it is written for. */
	readonly platform: "slurm" | "local";
	/** `<stack>/<benchmark>`. */
	readonly address: string;
	readonly benchmark: string;
	/** Every directive but the one that names the working directory. */
	readonly directives: readonly Directive[];
	/** Nodes of the allocation. */
	readonly nodes: number;
	readonly pools: readonly PoolRange[];
	/** In the order of the document; they start in it. */
	readonly services: readonly ServiceStep[];
	readonly driver: DriverStep;
}
