import { expect, test } from "vitest";
import {
	parseAssociations,
	parseNodes,
	parsePartitions,
	parseQos,
} from "../../../src/cluster/slurm/limits.ts";

const NONE = Number.POSITIVE_INFINITY;

test("partitions", () => {
	const text = [
		"PartitionName=batch AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL AllocNodes=ALL Default=YES QoS=N/A MaxNodes=UNLIMITED MaxTime=UNLIMITED Nodes=node[1-4] State=UP TotalCPUs=64 TRES=cpu=64,mem=250G",
		"PartitionName=gpu AllowAccounts=a,b AllowQos=normal Default=NO MaxNodes=2 MaxTime=1-12:00:00 State=DRAIN",
		"",
		"slurm_load_partitions error: Unable to contact slurm controller",
	].join("\n");
	expect(parsePartitions(text)).toEqual([
		{ name: "batch", isDefault: true, up: true, maxSeconds: NONE, maxNodes: NONE, accounts: null, qos: null },
		{
			name: "gpu",
			isDefault: false,
			up: false,
			maxSeconds: 129_600,
			maxNodes: 2,
			accounts: ["a", "b"],
			qos: ["normal"],
		},
	]);
});

test("associations", () => {
	const [open, tight] = parseAssociations(
		"acct||normal|||||\nacct|gpu|high,normal|high|2|5|04:00:00|gres/gpu=8,node=1\n",
	);
	expect(open).toMatchObject({
		account: "acct",
		partition: null,
		defaultQos: null,
		maxSubmit: NONE,
		maxSeconds: NONE,
	});
	expect(tight).toEqual({
		account: "acct",
		partition: "gpu",
		qos: ["high", "normal"],
		defaultQos: "high",
		maxJobs: 2,
		maxSubmit: 5,
		maxSeconds: 14_400,
		maxNodes: 1,
		maxGpus: 8,
	});
});

test("qualities of service", () => {
	expect(parseQos("normal|||||\nhigh|1-00:00:00|2|4|node=2|cpu=9,gres/gpu=16\n")).toEqual([
		{
			name: "normal",
			maxSeconds: NONE,
			maxJobsPerUser: NONE,
			maxSubmitPerUser: NONE,
			maxNodes: NONE,
			maxGpus: NONE,
			maxGpusPerUser: NONE,
		},
		{
			name: "high",
			maxSeconds: 86_400,
			maxJobsPerUser: 2,
			maxSubmitPerUser: 4,
			maxNodes: 2,
			maxGpus: NONE,
			maxGpusPerUser: 16,
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
	expect(parseNodes(`node1|batch*|${gres}|16+|64000|drained*\n`)).toEqual([
		{ node: "node1", partition: "batch", gpus, cpus: 16, memory: 64_000, state: "drained" },
	]);
});
