/** What a cluster allows: partitions, nodes, and the limits of the user's associations and QoS. */
import { parseDuration } from "../../submit/duration.ts";
import { count } from "./rows.ts";

/** One partition. A missing limit is `Infinity`. */
export interface Partition {
	readonly name: string;
	readonly isDefault: boolean;
	/** False when it takes jobs but starts none, or takes none. */
	readonly up: boolean;
	/** Seconds a job may run. */
	readonly maxSeconds: number;
	readonly maxNodes: number;
	/** Null: all. */
	readonly accounts: readonly string[] | null;
	/** Null: all. */
	readonly qos: readonly string[] | null;
}

/** What an account allows the user, inherited limits filled in. A missing limit is `Infinity`. */
export interface Association {
	readonly account: string;
	/** Null: every partition. */
	readonly partition: string | null;
	readonly qos: readonly string[];
	readonly defaultQos: string | null;
	readonly maxJobs: number;
	/** Jobs that may be queued and running at once. */
	readonly maxSubmit: number;
	readonly maxSeconds: number;
	/** Per job. */
	readonly maxNodes: number;
	/** Per job. */
	readonly maxGpus: number;
}

/** Limits of one quality of service. A missing limit is `Infinity`. */
export interface Qos {
	readonly name: string;
	readonly maxSeconds: number;
	readonly maxJobsPerUser: number;
	readonly maxSubmitPerUser: number;
	/** Per job. */
	readonly maxNodes: number;
	/** Per job. */
	readonly maxGpus: number;
	/** Of all running jobs of a user. */
	readonly maxGpusPerUser: number;
}

/** One node as a member of one partition. */
export interface PartitionNode {
	readonly node: string;
	readonly partition: string;
	readonly gpus: number;
	readonly cpus: number | null;
	/** Megabytes. */
	readonly memory: number | null;
	/** sinfo's word without its mark, e.g. `idle`, `drained`. */
	readonly state: string;
}

/** The words of a command whose answer `parsePartitions` reads. */
export const PARTITIONS_COMMAND = "scontrol show partition -o";

/** The words of a command whose answer `parseAssociations` reads; of the user who runs it. */
export const ASSOCIATIONS_COMMAND =
	'sacctmgr -nP show assoc user="$(id -un)" format=account,partition,qos,defaultqos,maxjobs,maxsubmit,maxwall,maxtres';

/** The words of a command whose answer `parseQos` reads. */
export const QOS_COMMAND =
	"sacctmgr -nP show qos format=name,maxwall,maxjobspu,maxsubmitpu,maxtres,maxtrespu";

/** The words of a command whose answer `parseNodes` reads. */
export const NODES_COMMAND = "sinfo -h -N -o '%N|%P|%G|%c|%m|%T'";

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

/** Reads the answer of `PARTITIONS_COMMAND`. */
export function parsePartitions(text: string): readonly Partition[] {
	return text.split(/\r?\n/).flatMap((line) => {
		const fields = new Map(
			line.split(/\s+/).map((word): [string, string] => {
				const at = word.indexOf("=");
				return [word.slice(0, at), word.slice(at + 1)];
			}),
		);
		const name = fields.get("PartitionName");
		if (!name) return [];
		return [
			{
				name,
				isDefault: fields.get("Default") === "YES",
				up: fields.get("State") === "UP",
				maxSeconds: seconds(fields.get("MaxTime")),
				maxNodes: limit(fields.get("MaxNodes")),
				accounts: listOrAll(fields.get("AllowAccounts")),
				qos: listOrAll(fields.get("AllowQos")),
			},
		];
	});
}

/** Reads the answer of `ASSOCIATIONS_COMMAND`. */
export function parseAssociations(text: string): readonly Association[] {
	return rows(text, 8).map(([account, partition, qos, defaultQos, jobs, submit, wall, tres]) => ({
		account: account!,
		partition: partition || null,
		qos: list(qos),
		defaultQos: defaultQos || null,
		maxJobs: limit(jobs),
		maxSubmit: limit(submit),
		maxSeconds: seconds(wall),
		maxNodes: resource(tres!, "node"),
		maxGpus: resource(tres!, "gres/gpu"),
	}));
}

/** Reads the answer of `QOS_COMMAND`. */
export function parseQos(text: string): readonly Qos[] {
	return rows(text, 6).map(([name, wall, jobs, submit, tres, tresPerUser]) => ({
		name: name!,
		maxSeconds: seconds(wall),
		maxJobsPerUser: limit(jobs),
		maxSubmitPerUser: limit(submit),
		maxNodes: resource(tres!, "node"),
		maxGpus: resource(tres!, "gres/gpu"),
		maxGpusPerUser: resource(tresPerUser!, "gres/gpu"),
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

/** Reads the answer of `NODES_COMMAND`: one row for each node and partition. */
export function parseNodes(text: string): readonly PartitionNode[] {
	return rows(text, 6).map(([node, partition, gres, cpus, memory, state]) => ({
		node: node!,
		partition: partition!.replace(/\*$/, ""),
		gpus: gpus(gres!),
		cpus: count(cpus!.replace(/\+$/, "")),
		memory: count(memory!.replace(/\+$/, "")),
		state: state!.replace(/[*~#!%$@^+-]+$/, ""),
	}));
}
