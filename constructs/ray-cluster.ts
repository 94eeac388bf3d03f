import type { Construct } from "constructs";
import { Element } from "./element.ts";
import { KIND } from "./kind.ts";
import type { NodePool } from "./node-pool.ts";
import { nested, type Section, section } from "./section.ts";
import type { ServiceProps } from "./service-props.ts";
import type { Mapping } from "./values.ts";

/** Props of {@link RayCluster}. Document: `services.<id>` with `type: ray`. */
export interface RayClusterProps extends ServiceProps {
	/**
	 * Pools that the cluster spans, each once. Empty is a cluster of one node.
	 * @default []
	 */
	readonly nodePools?: readonly NodePool[];
	/**
	 * Port of the head.
	 * @default 6379
	 */
	readonly port?: number;
	/**
	 * Custom Ray resources per pool, as a list or `Map`: `[[cluster.pool("aux"), { extra_gpu: 4 }]]`. Each pool
	 * must also be in `nodePools`.
	 * @default {}
	 */
	readonly resources?: Iterable<readonly [NodePool, Mapping<number>]>;
	/**
	 * `--num-cpus` of `ray start`.
	 * @default null, that is what Ray finds
	 */
	readonly numCpus?: number | null;
	/**
	 * `--num-gpus` of `ray start`.
	 * @default null, that is what Ray finds
	 */
	readonly numGpus?: number | null;
	/**
	 * Flags appended verbatim to `ray start` on every node; flags for heads only are left out on workers.
	 * @default ""
	 */
	readonly extraArgs?: string;
}

/**
 * A Ray cluster: the head on the driver's node, every other node of its pools a worker. The job finds the head
 * in `GYM_RAY_ADDRESS_<ID>`. It serves no model, and has no health check unless one is set.
 */
export class RayCluster extends Element {
	readonly [KIND] = "ray" as const;
	readonly props: RayClusterProps;

	/** @param id name of the service */
	constructor(scope: Construct, id: string, props: RayClusterProps) {
		super(scope, id);
		this.props = props;
	}

	/** The `services` entry. */
	toDocument(): Section {
		const { healthCheck, resources, ...rest } = this.props;
		return new Map<string, unknown>([
			["type", this[KIND]],
			...section({
				...rest,
				healthCheck: nested(healthCheck),
				resources: resources && new Map(resources),
			}),
		]);
	}
}
