import { describe, expect, test } from "vitest";
import {
	parseAssociations,
	parseLimits,
	parseNodes,
	parsePartitions,
	parseQos,
	parseSettings,
} from "../../../src/cluster/slurm/limits.ts";

const NONE = Number.POSITIVE_INFINITY;

test("partitions", () => {
	const text = [
		"PartitionName=batch AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL AllocNodes=ALL Default=YES QoS=N/A MaxNodes=UNLIMITED MaxTime=UNLIMITED Nodes=node[1-4] State=UP TotalCPUs=64 TotalNodes=4 TRES=cpu=64,mem=250G",
		"PartitionName=gpu AllowAccounts=a,b AllowQos=normal Default=NO QoS=part MaxNodes=2 MaxTime=1-12:00:00 State=DRAIN",
		"",
		"slurm_load_partitions error: Unable to contact slurm controller",
	].join("\n");
	expect(parsePartitions(text)).toEqual([
		{
			name: "batch",
			isDefault: true,
			state: "UP",
			maxSeconds: NONE,
			maxNodes: NONE,
			totalNodes: 4,
			accounts: null,
			allowQos: null,
			qos: null,
		},
		{
			name: "gpu",
			isDefault: false,
			state: "DRAIN",
			maxSeconds: 129_600,
			maxNodes: 2,
			totalNodes: NONE,
			accounts: ["a", "b"],
			allowQos: ["normal"],
			qos: "part",
		},
	]);
});

test("associations", () => {
	const [open, tight] = parseAssociations(
		"c1|acct||normal|||\nc1|acct|gpu|high,normal|high|04:00:00|gres/gpu=8,node=1\n",
	);
	expect(open).toMatchObject({
		cluster: "c1",
		account: "acct",
		partition: null,
		defaultQos: null,
		maxSeconds: NONE,
		maxNodes: NONE,
	});
	expect(tight).toEqual({
		cluster: "c1",
		account: "acct",
		partition: "gpu",
		qos: ["high", "normal"],
		defaultQos: "high",
		maxSeconds: 14_400,
		maxNodes: 1,
		maxGpus: 8,
	});
});

test("qualities of service: the tightest of per job, per user and in all", () => {
	expect(
		parseQos(
			"normal|||||\nhigh|DenyOnLimit,PartitionTimeLimit|1-00:00:00|node=2|cpu=9,gres/gpu=16|gres/gpu=32\n",
		),
	).toEqual([
		{ name: "normal", flags: [], maxSeconds: NONE, maxNodes: NONE, maxGpus: NONE },
		{
			name: "high",
			flags: ["DenyOnLimit", "PartitionTimeLimit"],
			maxSeconds: 86_400,
			maxNodes: 2,
			maxGpus: 16,
		},
	]);
});

test.each([
	["(null)", 0],
	["gpu:8", 8],
	["gpu", 1],
	["gpu:a100:4(S:0-1)", 4],
	["gpu:a100:4(S:0,1),gpu:h100:2,shard:8", 6],
])("a node with %s has %d GPUs", (gres, gpus) => {
	expect(parseNodes(`node1|batch*|${gres}\n`)).toEqual([{ node: "node1", partition: "batch", gpus }]);
});

describe("settings", () => {
	test("what is enforced, and the cluster's name", () => {
		const text =
			"Configuration data as of x\nAccountingStorageEnforce = associations,limits,qos\nClusterName             = c1\n";
		expect(parseSettings(text)).toEqual({
			clusterName: "c1",
			enforced: ["associations", "limits", "qos"],
		});
	});

	test("nothing is enforced", () => {
		expect(parseSettings("AccountingStorageEnforce = none\n")).toEqual({ clusterName: null, enforced: [] });
	});

	test("other text is no answer", () => {
		expect(parseSettings("scontrol: command not found")).toBeNull();
	});
});

test("what cannot be read is not known, never empty", () => {
	const nothing = { partitions: null, nodes: null, associations: null, qos: null, settings: null };
	expect(parseLimits(() => undefined)).toEqual(nothing);
	expect(parseLimits(() => "some|new format of a later\nSlurm version")).toEqual(nothing);
});
