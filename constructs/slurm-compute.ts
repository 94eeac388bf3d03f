import type { Construct } from "constructs";
import { GymError, type SourceLocation } from "../src/errors.ts";
import { callSite } from "./call-site.ts";
import { Element } from "./element.ts";
import { KIND } from "./kind.ts";
import { NodePool, type NodePoolProps } from "./node-pool.ts";
import { nested, type Section, section } from "./section.ts";
import type { Directives } from "./values.ts";

/**
 * Pools by name, in the order in which they own the allocation's nodes. An object does not keep the order of
 * names that are whole numbers (`"10"`, `"9"`): write those as a list of `[name, props]`, or a `Map`.
 */
export type NodePools<Pool extends string> =
	| Readonly<Record<Pool, NodePoolProps>>
	| readonly (readonly [Pool, NodePoolProps])[]
	| ReadonlyMap<Pool, NodePoolProps>;

/** Props of {@link SlurmCompute}. Document: `compute.<id>` with `type: slurm`. */
export interface SlurmComputeProps<Pool extends string = string> {
	/** Slurm account (`--account`). */
	readonly account: string;
	/**
	 * Login node to submit through over SSH. Null, or this machine's own name, runs sbatch here.
	 * @default null
	 */
	readonly hostname?: string | null;
	/**
	 * Time limit of one job (`--time`) in Slurm's grammar: `MM`, `MM:SS`, `HH:MM:SS`, `D-HH`, `D-HH:MM`,
	 * `D-HH:MM:SS`. So `48:00` is 48 minutes.
	 * @default null
	 */
	readonly walltime?: string | null;
	/**
	 * Names of variables to forward from the submitting shell to sbatch; read them with `runtime("NAME")`.
	 * @default []
	 */
	readonly forwardEnv?: readonly string[];
	/**
	 * Named groups of nodes. More can follow by {@link SlurmCompute.addPool}.
	 * @default {}
	 */
	readonly nodePools?: NodePools<Pool>;
	/**
	 * Extra `#SBATCH` directives of the job, without leading dashes: `{ comment: "my-run" }`.
	 * @default {}
	 */
	readonly extraArgs?: Directives;
}

interface DeclaredPool {
	readonly props: NodePoolProps;
	readonly source: SourceLocation | undefined;
}

/** A Slurm cluster. `Pool` is the union of its pools' names, so that `pool("…")` compiles only for one of them. */
export class SlurmCompute<const Pool extends string = never> extends Element {
	readonly [KIND] = "slurm" as const;
	readonly props: SlurmComputeProps<Pool>;
	readonly #pools = new Map<string, DeclaredPool>();

	/**
	 * @param id name of the `compute` entry
	 * @throws GymError code `pool-duplicate` when a list names a pool twice
	 */
	constructor(scope: Construct, id: string, props: SlurmComputeProps<Pool>) {
		super(scope, id);
		this.props = props;
		for (const [name, pool] of poolEntries(props.nodePools ?? [])) this.#declare(name, pool, this.source);
	}

	/** Refers to a pool by its name, for `nodePool` of a service and `nodePools` of a Ray cluster. */
	pool(name: NoInfer<Pool>): NodePool {
		return new NodePool(this, name);
	}

	/**
	 * Adds a pool behind the ones there are.
	 * @throws GymError code `pool-duplicate` when there is one of this name
	 */
	addPool(name: string, props: NodePoolProps): NodePool {
		return this.#declare(name, props, callSite(this.addPool));
	}

	/** Where each pool was declared. */
	get poolSources(): ReadonlyMap<string, SourceLocation | undefined> {
		return new Map([...this.#pools].map(([name, { source }]) => [name, source]));
	}

	#declare(name: string, props: NodePoolProps, source: SourceLocation | undefined): NodePool {
		if (this.#pools.has(name)) {
			throw new GymError("invalid", {
				code: "pool-duplicate",
				severity: "error",
				at: `compute.${this.name}.node_pools.${name}`,
				message: `there are two pools ${JSON.stringify(name)}`,
				remedy: "give each pool its own name",
				construct: this.node.path,
				...(source && { source }),
			});
		}
		this.#pools.set(name, { props, source });
		return new NodePool(this, name);
	}

	/** The `compute` entry. */
	toDocument(): Section {
		const { nodePools, ...props } = this.props;
		const document = new Map<string, unknown>([["type", this[KIND]], ...section(props)]);
		if (nodePools !== undefined || this.#pools.size > 0) {
			const pools = [...this.#pools].map(([name, { props: pool }]) => [name, nested(pool)] as const);
			document.set("node_pools", new Map(pools));
		}
		return document;
	}
}

function poolEntries<Pool extends string>(
	pools: NodePools<Pool>,
): Iterable<readonly [string, NodePoolProps]> {
	return Symbol.iterator in pools ? pools : Object.entries<NodePoolProps>(pools);
}
