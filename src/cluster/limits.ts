/** What a cluster allows: partitions, nodes, and the limits of the user's associations and QoS. */

/** One partition. A missing limit is `Infinity`. */
export interface Partition {
	readonly name: string;
	readonly isDefault: boolean;
	/** Slurm's word: `UP`; `DOWN` takes jobs but starts none; `DRAIN` and `INACTIVE` take none. */
	readonly state: string;
	/** Seconds a job may run. */
	readonly maxSeconds: number;
	readonly maxNodes: number;
	/** Nodes that it has. */
	readonly totalNodes: number;
	/** Null: all. */
	readonly accounts: readonly string[] | null;
	/** Null: all. */
	readonly allowQos: readonly string[] | null;
	/** The QoS whose limits hold for every job in it. */
	readonly qos: string | null;
}

/** What an account allows the user, inherited limits filled in. A missing limit is `Infinity`. */
export interface Association {
	readonly cluster: string;
	readonly account: string;
	/** Null: every partition. */
	readonly partition: string | null;
	readonly qos: readonly string[];
	readonly defaultQos: string | null;
	readonly maxSeconds: number;
	/** Per job. */
	readonly maxNodes: number;
	/** Per job. */
	readonly maxGpus: number;
}

/** Limits of one quality of service. A missing limit is `Infinity`. */
export interface Qos {
	readonly name: string;
	/** Slurm's words, e.g. `PartitionTimeLimit`: its jobs may pass that limit of a partition. */
	readonly flags: readonly string[];
	readonly maxSeconds: number;
	/** Most that one job can ever have: per job, per user and in all. */
	readonly maxNodes: number;
	/** Most that one job can ever have: per job, per user and in all. */
	readonly maxGpus: number;
}

/** One node as a member of one partition. */
export interface PartitionNode {
	readonly node: string;
	readonly partition: string;
	readonly gpus: number;
}

/** What the controller is set to. */
export interface Settings {
	readonly clusterName: string | null;
	/** What it enforces: `associations`, `limits`, `qos`, …; empty for nothing. */
	readonly enforced: readonly string[];
}

/** All that was heard of a cluster's limits; null for what was not. */
export interface ClusterLimits {
	readonly partitions: readonly Partition[] | null;
	readonly nodes: readonly PartitionNode[] | null;
	readonly associations: readonly Association[] | null;
	readonly qos: readonly Qos[] | null;
	readonly settings: Settings | null;
}
