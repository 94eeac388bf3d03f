import type { Element } from "./element.ts";
import { KIND } from "./kind.ts";
import type { Directives } from "./values.ts";

/** A named group of nodes. Pools divide a benchmark's one allocation between the services. */
export interface NodePoolProps {
	/** Slurm partition. All pools must agree on it. */
	readonly partition: string;
	/**
	 * Number of nodes.
	 * @default 1
	 */
	readonly nodes?: number;
	/**
	 * Tasks per node. All pools must agree on it.
	 * @default 1
	 */
	readonly ntasksPerNode?: number;
	/**
	 * GPUs per node (`--gpus-per-node`), also used to size and check vLLM services. All pools must agree on it.
	 * @default null
	 */
	readonly gpusPerNode?: number | null;
	/**
	 * Extra `#SBATCH` directives, without leading dashes. No key may differ between pools.
	 * @default {}
	 */
	readonly extraArgs?: Directives;
}

/** Reference to a pool of one compute; made by `cluster.pool(name)` and `cluster.addPool(name, props)`. */
export class NodePool {
	readonly [KIND] = "pool" as const;
	readonly name: string;
	/** The `SlurmCompute` that it belongs to. */
	readonly compute: Element;

	constructor(compute: Element, name: string) {
		this.compute = compute;
		this.name = name;
	}
}
