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
	/** Null: the step runs on the node itself. */
	readonly container: string | null;
	/** Bind mounts, each `src`, `src:dst` or `src:dst:flags`. */
	readonly mounts: readonly string[];
	readonly env: readonly EnvEntry[];
	/** False for what needs none of the node's GPUs. */
	readonly usesGpus: boolean;
}

/** A server that the job starts, once on each of its nodes. */
export interface ServiceStep extends StepBase {
	/** Is the benchmark's directory visible to it, as its working directory and first argument? */
	readonly seesBench: boolean;
	/** Nodes whose addresses the script is given as (further) arguments. */
	readonly addresses: readonly number[];
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

/** Gym from its repository, with what it needs to send telemetry when that is on. */
export interface Install {
	readonly repo: string;
	readonly ref: string;
	readonly telemetry: boolean;
}

/** The step that runs the benchmark: install, prepare, then (when the services are healthy) the program. */
export interface DriverStep extends StepBase {
	readonly install: Install | null;
	/** Arguments of `gym eval prepare`; null when there is nothing to prepare. */
	readonly prepare: readonly string[] | null;
	readonly program: Program;
}

/** What the job tells its steps of the nodes: the comma-joined hosts of a range, or one node's address (and a port). */
export type JobVariable =
	| { readonly name: string; readonly kind: "hosts"; readonly hosts: Placement }
	| { readonly name: string; readonly kind: "address"; readonly node: number; readonly port: number | null };

/** One `#SBATCH` directive; a null value is the flag alone. */
export interface Directive {
	readonly key: string;
	readonly value: string | null;
}

/** The limits of a resume chain. */
export interface Chain {
	/** Segments that may fail and still be followed by another. */
	readonly maxRetries: number;
	/** Seconds that all segments together may take; null for no cap. */
	readonly maxWalltime: number | null;
	/** Segments in a row that may reach their time limit without adding anything; null for any number. */
	readonly noProgress: number | null;
}

/** What the collector asks for metrics. */
export interface Scrape {
	/** Prometheus job name. */
	readonly job: string;
	/** Name of the model service, its label; null for exporters of the node. */
	readonly service: string | null;
	readonly targets: readonly { readonly node: number; readonly port: number }[];
}

/** The OpenTelemetry collector beside the job. */
export interface Collector {
	readonly step: ServiceStep;
	/** Node that it runs on. */
	readonly node: number;
	readonly endpoint: string;
	/** Variable of the job's environment with the token. */
	readonly tokenVariable: string;
	/** Seconds. */
	readonly scrapeInterval: number;
	readonly scrapes: readonly Scrape[];
	/** Resource attributes that are known when the job is made. */
	readonly attributes: ReadonlyMap<string, string>;
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
	/** Exported in the batch script, so that every step has them. */
	readonly variables: readonly JobVariable[];
	/** Null when it is switched off. */
	readonly collector: Collector | null;
	/** In the order of the document; they start in it. */
	readonly services: readonly ServiceStep[];
	readonly driver: DriverStep;
	/** Null when the job is not resumable. */
	readonly chain: Chain | null;
}
