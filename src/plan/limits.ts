/**
 * Compares what a job asks for with what the cluster allows. Slurm itself accepts most of what is too much and
 * lets it pend for ever. Errors only where it would refuse or never start the job; what is not known is passed over.
 */
import type { Association, ClusterLimits, Partition, Qos } from "../cluster/limits.ts";
import { directives, nodeCount } from "../job/allocation.ts";
import type { SlurmConfig } from "../submit/config.ts";
import { formatDuration, parseDuration } from "../submit/duration.ts";
import { didYouMean } from "../submit/nearest.ts";
import type { Path } from "../submit/path.ts";
import type { Report } from "../submit/rules/report.ts";

/** What one job asks for, and where the document says so. */
interface Request {
	readonly account: string;
	/** Slurm takes the one where the job starts first; empty: the default one. */
	readonly partitions: readonly string[];
	readonly qos: string | null;
	/** Null: none asked for. */
	readonly seconds: number | null;
	readonly nodes: number;
	readonly gpusPerNode: number;
	readonly at: Readonly<Record<"account" | "partition" | "qos" | "walltime" | "nodes" | "gpus", Path>>;
}

type Finding = Parameters<Report>;

/** A limit and whose it is, for the message. */
interface Bound {
	readonly owner: string;
	readonly maxSeconds: number;
	readonly maxNodes: number;
	readonly maxGpus: number;
}

function requestOf(name: string, compute: SlurmConfig): Request | null {
	const asked = new Map(directives("", compute).map(({ key, value }) => [key, value]));
	// Another cluster's limits are not those that were read.
	if (asked.has("clusters") || asked.has("M")) return null;
	const at = ["compute", name];
	const [pool, ...more] = compute.node_pools.keys();
	const ofPool = (field: string): Path =>
		pool === undefined ? [...at, "extra_args"] : [...at, "node_pools", pool, field];
	const gpus = Number(asked.get("gpus-per-node") ?? 0);
	const time = asked.get("time") ?? asked.get("t");
	return {
		account: compute.account,
		partitions: (asked.get("partition") ?? asked.get("p") ?? "").split(",").filter(Boolean),
		qos: asked.get("qos") ?? asked.get("q") ?? null,
		seconds: time ? parseDuration(time) : null,
		nodes: nodeCount(compute),
		gpusPerNode: Number.isInteger(gpus) ? gpus : 0,
		at: {
			account: [...at, "account"],
			partition: ofPool("partition"),
			qos: [...at, "extra_args", asked.has("qos") ? "qos" : "q"],
			walltime: [...at, compute.walltime === null ? "extra_args" : "walltime"],
			nodes: more.length > 0 ? [...at, "node_pools"] : ofPool("nodes"),
			gpus: ofPool("gpus_per_node"),
		},
	};
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
const includes = (list: readonly string[], word: string) => list.some((one) => same(one, word));

/** The user's associations on this cluster; null when they are not known or the controller does not ask for them. */
function associationsOf({ associations, settings }: ClusterLimits): readonly Association[] | null {
	if (!associations || !settings || settings.enforced.length === 0) return null;
	const here = associations.filter(
		({ cluster }) => settings.clusterName === null || same(cluster, settings.clusterName),
	);
	return here.length > 0 ? here : null;
}

function accountFindings(request: Request, known: readonly Association[], limits: ClusterLimits): Finding[] {
	const { account, at } = request;
	const mine = known.filter((one) => same(one.account, account));
	if (mine.length === 0) {
		const accounts = [...new Set(known.map((one) => one.account))];
		const remedy = didYouMean(account, accounts) ?? `your accounts: ${accounts.join(", ")}`;
		return [["error", "account-unknown", at.account, `you may not use the account ${account}`, remedy]];
	}
	const { qos } = request;
	const allowed = [...new Set(mine.flatMap((one) => one.qos))];
	if (qos === null || !limits.settings?.enforced.includes("qos") || includes(allowed, qos)) return [];
	const remedy = `QoS of this account: ${allowed.join(", ") || "none"}`;
	return [["error", "qos-not-allowed", at.qos, `the account ${account} may not use the QoS ${qos}`, remedy]];
}

/** The association that counts for jobs in a partition: its own, else the one for all. */
function associationIn(known: readonly Association[] | null, account: string, partition: string) {
	const mine = known?.filter((one) => same(one.account, account)) ?? [];
	return (
		mine.find((one) => one.partition !== null && same(one.partition, partition)) ??
		mine.find((one) => one.partition === null)
	);
}

/** The QoS that a job gets; undefined when that is not known. */
function qosOf(request: Request, association: Association, limits: ClusterLimits): Qos | undefined {
	const single = association.qos.length === 1 ? association.qos[0] : undefined;
	const usual = association.qos.find((name) => name === "normal");
	const name = request.qos ?? association.defaultQos ?? single ?? usual;
	return limits.qos?.find((one) => name !== undefined && same(one.name, name));
}

/** What holds for the job besides its partition, the strongest first: a limit set there hides those behind it. */
function boundsOf(
	partition: Partition,
	association: Association | undefined,
	qos: Qos | undefined,
	limits: ClusterLimits,
) {
	if (!association || !qos || !limits.settings?.enforced.includes("limits")) return [];
	const ofPartition = limits.qos?.find((one) => one.name === partition.qos);
	if (partition.qos !== null && !ofPartition) return [];
	const named = (one: Qos): Bound => ({ ...one, owner: `the QoS ${one.name}` });
	const both = [...(ofPartition ? [named(ofPartition)] : []), named(qos)];
	if (qos.flags.includes("OverPartQOS")) both.reverse();
	return [...both, { ...association, owner: `the account ${association.account}` }];
}

function strongest(bounds: readonly Bound[], kind: "maxSeconds" | "maxNodes" | "maxGpus") {
	const found = bounds.find((bound) => Number.isFinite(bound[kind]));
	return found ? { owner: found.owner, most: found[kind] } : { owner: "", most: Number.POSITIVE_INFINITY };
}

const nodesText = (nodes: number) => (nodes === 1 ? "1 node" : `${nodes} nodes`);

function sizeFindings(
	request: Request,
	partition: Partition,
	bounds: readonly Bound[],
	qos?: Qos,
): Finding[] {
	const { seconds, nodes, gpusPerNode, at } = request;
	const name = `the partition ${partition.name}`;
	const findings: Finding[] = [];
	const times = [strongest(bounds, "maxSeconds")];
	if (!qos?.flags.includes("PartitionTimeLimit")) times.push({ owner: name, most: partition.maxSeconds });
	for (const { owner, most } of times) {
		if (seconds === null || seconds <= most) continue;
		const message = `the walltime is ${formatDuration(seconds)}, ${owner} allows ${formatDuration(most)}: the job would wait for ever`;
		const remedy = `at most ${formatDuration(most)}; a resumable benchmark goes on in a further job`;
		findings.push(["error", "walltime-above-limit", at.walltime, message, remedy]);
	}
	const counts = [strongest(bounds, "maxNodes")];
	if (!qos?.flags.includes("PartitionMaxNodes")) counts.push({ owner: name, most: partition.maxNodes });
	for (const { owner, most } of counts) {
		if (nodes <= most) continue;
		const message = `the job needs ${nodesText(nodes)}, ${owner} allows ${most}: it would wait for ever`;
		findings.push(["error", "nodes-above-limit", at.nodes, message, `at most ${nodesText(most)}`]);
	}
	if (nodes > partition.totalNodes) {
		const message = `the job needs ${nodesText(nodes)}, ${name} has ${partition.totalNodes}`;
		findings.push(["error", "nodes-above-limit", at.nodes, message, "fewer nodes, or another partition"]);
	}
	const gpus = strongest(bounds, "maxGpus");
	if (nodes * gpusPerNode > gpus.most) {
		const message = `the job needs ${nodes * gpusPerNode} GPUs, ${gpus.owner} allows ${gpus.most}: it would wait for ever`;
		findings.push(["error", "gpus-above-limit", at.gpus, message, `at most ${gpus.most} GPUs in all`]);
	}
	return findings;
}

function gpuFindings(
	{ gpusPerNode, nodes, at }: Request,
	partition: Partition,
	limits: ClusterLimits,
): Finding[] {
	const here = limits.nodes?.filter((node) => node.partition === partition.name) ?? [];
	const fitting = here.filter((node) => node.gpus >= gpusPerNode).length;
	if (here.length === 0 || gpusPerNode === 0 || fitting >= Math.min(nodes, partition.totalNodes)) return [];
	const most = Math.max(...here.map((node) => node.gpus));
	const message =
		fitting === 0
			? `${gpusPerNode} GPUs on a node, but those of the partition ${partition.name} have at most ${most}`
			: `${gpusPerNode} GPUs on each of ${nodesText(nodes)}, but only ${fitting} in the partition ${partition.name} have so many`;
	return [["error", "gpus-above-node", at.gpus, message, "fewer GPUs per node, or another partition"]];
}

function partitionFindings(
	request: Request,
	partition: Partition,
	known: readonly Association[] | null,
	limits: ClusterLimits,
): Finding[] {
	const { account, at } = request;
	const findings: Finding[] = [];
	const { name, state, accounts, allowQos } = partition;
	if (state === "DRAIN" || state === "INACTIVE") {
		const message = `the partition ${name} is ${state} and takes no jobs`;
		findings.push(["error", "partition-closed", at.partition, message, "another partition, or wait"]);
	} else if (state === "DOWN") {
		const message = `the partition ${name} is DOWN: it takes jobs, but starts none until it is UP`;
		findings.push(["warning", "partition-down", at.partition, message]);
	}
	if (accounts && !includes(accounts, account)) {
		const message = `the partition ${name} is not for the account ${account}`;
		findings.push(["error", "account-not-allowed", at.account, message, `it is for ${accounts.join(", ")}`]);
	}
	if (request.qos !== null && allowQos && !includes(allowQos, request.qos)) {
		const message = `the partition ${name} is not for the QoS ${request.qos}`;
		findings.push(["error", "qos-not-allowed", at.qos, message, `it is for ${allowQos.join(", ")}`]);
	}
	const association = associationIn(known, account, name);
	const mine = known?.filter((one) => same(one.account, account)) ?? [];
	if (mine.length > 0 && !association) {
		const message = `you may not use the account ${account} in the partition ${name}`;
		const remedy = `with this account: ${mine.map((one) => one.partition).join(", ")}`;
		findings.push(["error", "account-not-allowed", at.account, message, remedy]);
	}
	const qos = association && qosOf(request, association, limits);
	const bounds = boundsOf(partition, association, qos, limits);
	return [
		...findings,
		...sizeFindings(request, partition, bounds, qos),
		...gpuFindings(request, partition, limits),
	];
}

/** Reports what of a job's request the cluster does not allow. */
export function checkLimits(name: string, compute: SlurmConfig, limits: ClusterLimits, report: Report): void {
	const request = requestOf(name, compute);
	if (!request) return;
	const known = associationsOf(limits);
	for (const finding of known ? accountFindings(request, known, limits) : []) report(...finding);
	if (!limits.partitions) return;
	const wanted = request.partitions;
	for (const unknown of wanted.filter((one) => !limits.partitions!.some((each) => each.name === one))) {
		const names = limits.partitions.map((each) => each.name);
		const remedy = didYouMean(unknown, names) ?? `partitions: ${names.join(", ")}`;
		report("error", "partition-unknown", request.at.partition, `there is no partition ${unknown}`, remedy);
	}
	const found = limits.partitions
		.filter((each) => (wanted.length > 0 ? wanted.includes(each.name) : each.isDefault))
		.map((each) => partitionFindings(request, each, known, limits));
	// One partition that can run the job is enough.
	if (found.every((findings) => findings.length > 0)) for (const finding of found.flat()) report(...finding);
}
