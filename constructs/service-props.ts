/** Props that all services have. */
import type { EnvValue } from "./env.ts";
import type { LocalCompute } from "./local-compute.ts";
import type { NodePool } from "./node-pool.ts";
import type { SlurmCompute } from "./slurm-compute.ts";
import type { Mapping } from "./values.ts";

/** The endpoint that the job waits for before the benchmark runs; looked at every 5 seconds. */
export interface HealthCheckProps {
	/**
	 * Path of the endpoint.
	 * @default "/health"
	 */
	readonly path?: string;
	/**
	 * Port of the endpoint.
	 * @default the service's port
	 */
	readonly port?: number | null;
	/**
	 * Seconds that the service may take to get healthy. Large models need more than the default.
	 * @default 60
	 */
	readonly timeoutSeconds?: number;
}

/** Fields common to every service. */
export interface ServiceProps {
	/**
	 * Container image that the service runs in (`srun --container-image`). Required on Slurm.
	 * @default none; LocalCompute ignores it
	 */
	readonly container?: string;
	/**
	 * Compute that the service runs on. There is one in a stack, so this needs no saying.
	 * @default null, that is the stack's compute
	 */
	readonly placement?: SlurmCompute<string> | LocalCompute | null;
	/**
	 * The endpoint that the job waits for.
	 * @default by kind of service
	 */
	readonly healthCheck?: HealthCheckProps | null;
	/**
	 * Environment of the service; it wins over the image's own.
	 * @default {}
	 */
	readonly env?: Mapping<EnvValue>;
	/**
	 * Pyxis bind mounts, each `src`, `src:dst` or `src:dst:flags`.
	 * @default []
	 */
	readonly mounts?: readonly string[];
	/**
	 * Shell statements that run before the service's command, in its shell.
	 * @default ""
	 */
	readonly preCommand?: string;
}

/** A service that can be bound to one pool. */
export interface PinnableProps extends ServiceProps {
	/**
	 * Pool whose nodes the service runs on; null is the whole allocation.
	 * @default null
	 */
	readonly nodePool?: NodePool | null;
}
