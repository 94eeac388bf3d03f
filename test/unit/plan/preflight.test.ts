/** What the cluster allows, against what the document asks for. */
import { describe, expect, test } from "vitest";
import type { PreflightResult } from "../../../src/cluster/scheduler.ts";
import { parseLimits } from "../../../src/cluster/slurm/limits.ts";
import { checkCluster } from "../../../src/plan/preflight.ts";
import type { NodePoolConfig, SlurmConfig, SourceMap, SubmitConfig } from "../../../src/submit/config.ts";

interface Cluster {
	readonly partitions?: string;
	readonly nodes?: string;
	readonly associations?: string;
	readonly qos?: string;
	readonly settings?: string;
}

/** Two partitions; `gpu` is the tight one. Limits are enforced. */
const CLUSTER: Cluster = {
	partitions: [
		"PartitionName=batch AllowAccounts=ALL AllowQos=ALL Default=YES QoS=N/A MaxNodes=UNLIMITED MaxTime=UNLIMITED State=UP TotalNodes=4",
		"PartitionName=gpu AllowAccounts=ALL AllowQos=ALL Default=NO QoS=N/A MaxNodes=2 MaxTime=04:00:00 State=UP TotalNodes=3",
	].join("\n"),
	nodes: [
		...[1, 2, 3, 4].map((n) => `node${n}|batch*|gpu:8`),
		"node1|gpu|gpu:8",
		"node2|gpu|gpu:8",
		"node3|gpu|gpu:4",
	].join("\n"),
	associations: "c1|acct||normal,high|normal||\n",
	qos: "normal|||||\nhigh|||||\n",
	settings: "AccountingStorageEnforce = associations,limits,qos\nClusterName = c1\n",
};

const pool = (more: Partial<NodePoolConfig> = {}): NodePoolConfig => ({
	partition: "gpu",
	nodes: 1,
	ntasks_per_node: 1,
	gpus_per_node: 8,
	extra_args: new Map(),
	...more,
});

interface Asked extends Partial<Omit<SlurmConfig, "node_pools">> {
	readonly pools?: Readonly<Record<string, Partial<NodePoolConfig>>>;
}

function config({ pools = { main: {} }, ...more }: Asked = {}): SubmitConfig {
	const compute: SlurmConfig = {
		type: "slurm",
		account: "acct",
		hostname: "login",
		walltime: "04:00:00",
		forward_env: [],
		extra_args: new Map(),
		node_pools: new Map(Object.entries(pools).map(([name, one]) => [name, pool(one)])),
		...more,
	};
	return {
		services: new Map([["my.policy", { mounts: ["/data:/d", "/models:/m"] }]]),
		compute: new Map([["lab.x", compute]]),
		driver: { mounts: ["/models:/m", "/more"] },
		job: { output_path: "/out" },
	} as unknown as SubmitConfig;
}

const sources: SourceMap = { locate: (path) => ({ source: { file: "x.yaml", line: path.length } }) };

function check(asked: Asked = {}, cluster: Cluster = CLUSTER, more: Partial<PreflightResult> = {}) {
	const limits = parseLimits((name) => cluster[name]);
	const result = { sbatch: true, pyxis: true, writable: true, missingMounts: [], limits, ...more };
	return checkCluster(result, config(asked), "the lab", sources);
}

/** Code, place and message of what was found. */
const found = (asked?: Asked, cluster?: Cluster) =>
	check(asked, cluster).map(({ code, at, message }) => [code, at, message] as const);

test("a request that fits: nothing is said", () => {
	expect(check({ pools: { main: { nodes: 2 } } })).toEqual([]);
	expect(check({ walltime: null, pools: { main: { partition: "batch", gpus_per_node: null } } })).toEqual([]);
	expect(check({ pools: {} })).toEqual([]);
});

describe("what a look finds besides limits has its place", () => {
	test("programs, output path and every mount", () => {
		const problems = check({}, CLUSTER, {
			sbatch: false,
			pyxis: false,
			writable: false,
			missingMounts: ["/models", "/more"],
		});
		expect(problems.map(({ code, at, source }) => [code, at, source?.line])).toEqual([
			["no-sbatch", "compute.lab.x.hostname", 3],
			["no-pyxis", "compute.lab.x.hostname", 3],
			["output-path-not-writable", "job.output_path", 2],
			["mount-missing", "services.my.policy.mounts[1]", 4],
			["mount-missing", "driver.mounts[0]", 3],
			["mount-missing", "driver.mounts[1]", 3],
		]);
		for (const { severity, remedy } of problems) {
			expect(severity).toBe("error");
			expect(remedy).toBeTruthy();
		}
	});

	test("a scheduler without limits", () => {
		const result = { sbatch: true, pyxis: true, writable: true, missingMounts: [] };
		expect(checkCluster(result, config({ account: "nobody" }), "here")).toEqual([]);
	});
});

describe("partitions", () => {
	test("one that is not there", () => {
		const [problem, ...rest] = check({ pools: { main: { partition: "gqu" } } });
		expect(rest).toEqual([]);
		expect(problem).toEqual({
			code: "partition-unknown",
			severity: "error",
			at: "compute.lab.x.node_pools.main.partition",
			message: "there is no partition gqu",
			remedy: 'did you mean "gpu"?',
			source: { file: "x.yaml", line: 5 },
		});
		expect(check({ pools: { main: { partition: "elsewhere" } } })[0]!.remedy).toBe("partitions: batch, gpu");
	});

	test.each(["DRAIN", "INACTIVE"])("%s takes no jobs", (state) => {
		const partitions = CLUSTER.partitions!.replaceAll("State=UP", `State=${state}`);
		expect(check({}, { ...CLUSTER, partitions })).toMatchObject([
			{ code: "partition-closed", severity: "error" },
		]);
	});

	test("DOWN only delays", () => {
		const partitions = CLUSTER.partitions!.replaceAll("State=UP", "State=DOWN");
		expect(check({}, { ...CLUSTER, partitions })).toMatchObject([
			{ code: "partition-down", severity: "warning" },
		]);
	});

	test("of several, one that can run the job is enough", () => {
		const both = { main: { partition: "gpu,batch", nodes: 4 } };
		expect(check({ walltime: "1-00", pools: both })).toEqual([]);
		expect(check({ pools: { main: { partition: "gpu,nope" } } })).toMatchObject([
			{ code: "partition-unknown" },
		]);
	});

	test("without one, the default counts", () => {
		expect(check({ pools: {}, extra_args: new Map([["nodes", 5]]) })).toMatchObject([
			{ code: "nodes-above-limit", at: "compute.lab.x.extra_args" },
		]);
	});

	test("one that is not for the account", () => {
		const partitions = CLUSTER.partitions!.replaceAll("AllowAccounts=ALL", "AllowAccounts=other,more");
		expect(found({}, { ...CLUSTER, partitions })).toEqual([
			["account-not-allowed", "compute.lab.x.account", "the partition gpu is not for the account acct"],
		]);
	});

	test("one that is not for the QoS", () => {
		const partitions = CLUSTER.partitions!.replaceAll("AllowQos=ALL", "AllowQos=normal");
		const extra_args = new Map([["qos", "high"]]);
		expect(found({ extra_args }, { ...CLUSTER, partitions })).toEqual([
			["qos-not-allowed", "compute.lab.x.extra_args.qos", "the partition gpu is not for the QoS high"],
		]);
		expect(found({}, { ...CLUSTER, partitions })).toEqual([]);
	});
});

describe("accounts", () => {
	test("one that the user has not", () => {
		expect(check({ account: "acc" })).toMatchObject([
			{ code: "account-unknown", at: "compute.lab.x.account", remedy: 'did you mean "acct"?' },
		]);
	});

	test("Slurm takes accounts in any case", () => {
		expect(check({ account: "ACCT" })).toEqual([]);
	});

	test("one that is only for other partitions", () => {
		const associations = "c1|acct|batch|normal|normal||\n";
		expect(check({}, { ...CLUSTER, associations })).toMatchObject([
			{
				code: "account-not-allowed",
				at: "compute.lab.x.account",
				message: "you may not use the account acct in the partition gpu",
				remedy: "with this account: batch",
			},
		]);
		expect(check({ pools: { main: { partition: "batch" } } }, { ...CLUSTER, associations })).toEqual([]);
	});

	test("one of another cluster's accounting is none here", () => {
		const associations = "c1|acct||normal|normal||\nc2|other||normal|normal||\n";
		expect(check({ account: "other" }, { ...CLUSTER, associations })).toMatchObject([
			{ code: "account-unknown" },
		]);
	});

	test("a QoS that the account may not use, where that is enforced", () => {
		const extra_args = new Map([["qos", "urgent"]]);
		expect(found({ extra_args })).toEqual([
			["qos-not-allowed", "compute.lab.x.extra_args.qos", "the account acct may not use the QoS urgent"],
		]);
		const settings = CLUSTER.settings!.replace(",qos", "");
		expect(found({ extra_args }, { ...CLUSTER, settings })).toEqual([]);
	});

	test("where nothing is enforced, nothing is said", () => {
		const settings = "AccountingStorageEnforce = none\nClusterName = c1\n";
		expect(check({ account: "any" }, { ...CLUSTER, settings })).toEqual([]);
	});
});

describe("walltime", () => {
	const walltime = (text: string, associations: string, qos: string, extra = new Map<string, string>()) =>
		found({ walltime: text, extra_args: extra }, { ...CLUSTER, associations, qos }).map(
			([, at, message]) => `${at}: ${message}`,
		);

	test("above the partition's limit", () => {
		expect(check({ walltime: "04:00:01" })).toMatchObject([
			{
				code: "walltime-above-limit",
				severity: "error",
				at: "compute.lab.x.walltime",
				message: "the walltime is 04:00:01, the partition gpu allows 04:00:00: the job would wait for ever",
				source: { file: "x.yaml", line: 3 },
			},
		]);
		expect(check({ walltime: "UNLIMITED" })).toHaveLength(1);
	});

	test("above the association's", () => {
		expect(walltime("02:00:00", "c1|acct||normal|normal|01:00:00|\n", "normal|||||\n")).toEqual([
			"compute.lab.x.walltime: the walltime is 02:00:00, the account acct allows 01:00:00: the job would wait for ever",
		]);
	});

	test("the QoS's own limit stands before the association's, either way", () => {
		const associations = "c1|acct||normal|normal|01:00:00|\n";
		expect(walltime("02:00:00", associations, "normal||03:00:00|||\n")).toEqual([]);
		expect(walltime("00:50:00", associations, "normal||00:30:00|||\n")).toEqual([
			"compute.lab.x.walltime: the walltime is 00:50:00, the QoS normal allows 00:30:00: the job would wait for ever",
		]);
	});

	test("the QoS asked for counts, not the default one", () => {
		const associations = "c1|acct||normal,high|normal||\n";
		const qos = "normal||00:30:00|||\nhigh|||||\n";
		expect(walltime("02:00:00", associations, qos, new Map([["qos", "high"]]))).toEqual([]);
		expect(walltime("02:00:00", associations, qos)).toHaveLength(1);
	});

	test("a QoS may let its jobs pass the partition's limit", () => {
		const qos = "normal|PartitionTimeLimit||||\n";
		expect(walltime("1-00", "c1|acct||normal|normal||\n", qos)).toEqual([]);
	});

	test("with an unknown QoS, and where limits are not enforced, nothing is said", () => {
		const associations = "c1|acct||a,b||01:00:00|\n";
		expect(walltime("02:00:00", associations, "a|||||\nb|||||\n")).toEqual([]);
		const settings = "AccountingStorageEnforce = associations\nClusterName = c1\n";
		const tight = "c1|acct||normal|normal|01:00:00|\n";
		expect(check({ walltime: "02:00:00" }, { ...CLUSTER, associations: tight, settings })).toEqual([]);
	});
});

describe("size", () => {
	test("nodes of all pools together, above the partition's MaxNodes", () => {
		expect(
			found({ pools: { a: { nodes: 2, gpus_per_node: 4 }, b: { nodes: 1, gpus_per_node: 4 } } }),
		).toEqual([
			[
				"nodes-above-limit",
				"compute.lab.x.node_pools",
				"the job needs 3 nodes, the partition gpu allows 2: it would wait for ever",
			],
		]);
	});

	test("above what the partition has", () => {
		expect(found({ pools: { main: { partition: "batch", nodes: 5 } } })).toEqual([
			[
				"nodes-above-limit",
				"compute.lab.x.node_pools.main.nodes",
				"the job needs 5 nodes, the partition batch has 4",
			],
		]);
	});

	test("GPUs above what any node has", () => {
		expect(found({ pools: { main: { gpus_per_node: 16 } } })).toEqual([
			[
				"gpus-above-node",
				"compute.lab.x.node_pools.main.gpus_per_node",
				"16 GPUs on a node, but those of the partition gpu have at most 8",
			],
		]);
	});

	test("too few nodes with so many GPUs", () => {
		const partitions = CLUSTER.partitions!.replace("MaxNodes=2", "MaxNodes=UNLIMITED");
		expect(found({ pools: { main: { nodes: 3 } } }, { ...CLUSTER, partitions })).toEqual([
			[
				"gpus-above-node",
				"compute.lab.x.node_pools.main.gpus_per_node",
				"8 GPUs on each of 3 nodes, but only 2 in the partition gpu have so many",
			],
		]);
		expect(found({ pools: { main: { nodes: 3, gpus_per_node: 4 } } }, { ...CLUSTER, partitions })).toEqual(
			[],
		);
	});

	test("nodes and GPUs above what the QoS allows a job", () => {
		const cluster = { ...CLUSTER, qos: "normal|||node=1|gres/gpu=8|\n" };
		expect(found({ pools: { main: { nodes: 2 } } }, cluster).map(([code]) => code)).toEqual([
			"nodes-above-limit",
			"gpus-above-limit",
		]);
	});

	test("the partition's QoS stands first", () => {
		const partitions = CLUSTER.partitions!.replaceAll("QoS=N/A", "QoS=part");
		const qos = "normal|||node=1||\npart|||node=2||\n";
		expect(found({ pools: { main: { nodes: 2 } } }, { ...CLUSTER, partitions, qos })).toEqual([]);
		const over = qos.replace("normal|", "normal|OverPartQOS");
		expect(found({ pools: { main: { nodes: 2 } } }, { ...CLUSTER, partitions, qos: over })).toHaveLength(1);
	});
});

test("what is not known is passed over", () => {
	const wild = { account: "nobody", walltime: "90-00", pools: { main: { partition: "x", nodes: 99 } } };
	expect(check(wild, {})).toEqual([]);
	const { partitions, nodes } = CLUSTER;
	expect(check({ account: "nobody" }, { partitions: partitions!, nodes: nodes! })).toEqual([]);
	expect(check({ ...wild, extra_args: new Map([["clusters", "other"]]) })).toEqual([]);
});
