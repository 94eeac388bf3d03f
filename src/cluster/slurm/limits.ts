/** What Slurm says of its limits: the calls that tell them and the reading of their answers. */
import { parseDuration } from "../../submit/duration.ts";
import type { Association, ClusterLimits, Partition, PartitionNode, Qos, Settings } from "../limits.ts";
import { count } from "./rows.ts";

/** The words of the commands that tell the limits, by the name of their answer; the controller's come before the database's. */
export const LIMIT_COMMANDS = {
	partitions: "scontrol -a show partition -o",
	nodes: "sinfo -a -h -N -o '%N|%P|%G'",
	settings: "scontrol show config",
	associations:
		'sacctmgr -nP show assoc user="$(id -un)" format=cluster,account,partition,qos,defaultqos,maxwall,maxtres',
	qos: "sacctmgr -nP show qos format=name,flags,maxwall,maxtres,maxtrespu,grptres",
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
