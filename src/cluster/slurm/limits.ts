/** What a cluster allows: partitions, nodes, and the limits of the user's associations and QoS. */
import { parseDuration } from "../../submit/duration.ts";
import { count } from "./rows.ts";

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

/** The words of the commands that tell the limits, by the name of their answer. */
export const LIMIT_COMMANDS = {
	partitions: "scontrol -a show partition -o",
	nodes: "sinfo -a -h -N -o '%N|%P|%G'",
	associations:
		'sacctmgr -nP show assoc user="$(id -un)" format=cluster,account,partition,qos,defaultqos,maxwall,maxtres',
	qos: "sacctmgr -nP show qos format=name,flags,maxwall,maxtres,maxtrespu,grptres",
	settings: "scontrol show config",
} as const;

function rows(text: string, fields: number): readonly (readonly string[])[] {
	return text
		.split(/\r?\n/)
		.map((line) => line.split("|").map((part) => part.trim()))
		.filter((parts) => parts.length === fields && parts[0] !== "");
}

function limit(text: string | undefined): number {
	return count(text ?? "") ?? Number.POSITIVE_INFINITY;
}

function seconds(text: string | undefined): number {
	return parseDuration(text ?? "") ?? Number.POSITIVE_INFINITY;
}

/** The limit of one resource in e.g. `cpu=64,gres/gpu=8,node=4`; of typed GPUs the untyped total counts. */
function resource(text: string, name: string): number {
	const entry = text.split(",").find((part) => part.startsWith(`${name}=`));
	return limit(entry?.slice(name.length + 1));
}

function list(text: string | undefined): readonly string[] {
	return (text ?? "").split(",").filter(Boolean);
}

function listOrAll(text: string | undefined): readonly string[] | null {
	return text === undefined || text === "ALL" ? null : list(text);
}

/** Reads the answer about partitions. */
export function parsePartitions(text: string): readonly Partition[] {
	return text.split(/\r?\n/).flatMap((line) => {
		const fields = new Map(
			line.split(/\s+/).map((word): [string, string] => {
				const at = word.indexOf("=");
				return [word.slice(0, at), word.slice(at + 1)];
			}),
		);
		const [name, qos] = [fields.get("PartitionName"), fields.get("QoS")];
		if (!name) return [];
		return [
			{
				name,
				isDefault: fields.get("Default") === "YES",
				state: fields.get("State") ?? "UP",
				maxSeconds: seconds(fields.get("MaxTime")),
				maxNodes: limit(fields.get("MaxNodes")),
				totalNodes: limit(fields.get("TotalNodes")),
				accounts: listOrAll(fields.get("AllowAccounts")),
				allowQos: listOrAll(fields.get("AllowQos")),
				qos: !qos || qos === "N/A" ? null : qos,
			},
		];
	});
}

/** Reads the answer about the associations of the user who asked. */
export function parseAssociations(text: string): readonly Association[] {
	return rows(text, 7).map(([cluster, account, partition, qos, defaultQos, wall, tres]) => ({
		cluster: cluster!,
		account: account!,
		partition: partition || null,
		qos: list(qos),
		defaultQos: defaultQos || null,
		maxSeconds: seconds(wall),
		maxNodes: resource(tres!, "node"),
		maxGpus: resource(tres!, "gres/gpu"),
	}));
}

/** Reads the answer about qualities of service. */
export function parseQos(text: string): readonly Qos[] {
	return rows(text, 6).map(([name, flags, wall, ...tres]) => ({
		name: name!,
		flags: list(flags),
		maxSeconds: seconds(wall),
		maxNodes: Math.min(...tres.map((each) => resource(each, "node"))),
		maxGpus: Math.min(...tres.map((each) => resource(each, "gres/gpu"))),
	}));
}

/** GPUs in sinfo's words for generic resources, e.g. `gpu:a100:4(S:0-1),gpu:h100:2,shard:8`. */
function gpus(text: string): number {
	return text
		.replaceAll(/\([^)]*\)/g, "")
		.split(",")
		.map((part) => part.split(":"))
		.filter(([kind]) => kind === "gpu")
		.reduce((sum, parts) => sum + (parts.length > 1 ? (count(parts.at(-1)!) ?? 1) : 1), 0);
}

/** Reads the answer about nodes: one row for each node and partition. */
export function parseNodes(text: string): readonly PartitionNode[] {
	return rows(text, 3).map(([node, partition, gres]) => ({
		node: node!,
		partition: partition!.replace(/\*$/, ""),
		gpus: gpus(gres!),
	}));
}

/** Reads the answer about the controller's settings; null when it says nothing of what is enforced. */
export function parseSettings(text: string): Settings | null {
	const value = (name: string) => new RegExp(`^${name}\\s*=\\s*(\\S+)\\s*$`, "m").exec(text)?.[1] ?? null;
	const enforced = value("AccountingStorageEnforce");
	if (enforced === null) return null;
	return {
		clusterName: value("ClusterName"),
		enforced: list(enforced).filter((word) => word !== "none"),
	};
}

/** What the answers say, by name. An answer without a line that can be read tells nothing. */
export function parseLimits(
	answer: (name: keyof typeof LIMIT_COMMANDS) => string | undefined,
): ClusterLimits {
	const read = <T>(name: keyof typeof LIMIT_COMMANDS, parse: (text: string) => readonly T[]) => {
		const found = parse(answer(name) ?? "");
		return found.length > 0 ? found : null;
	};
	return {
		partitions: read("partitions", parsePartitions),
		nodes: read("nodes", parseNodes),
		associations: read("associations", parseAssociations),
		qos: read("qos", parseQos),
		settings: parseSettings(answer("settings") ?? ""),
	};
}
