/** Services over several nodes: which program runs where, with which arguments, told of which addresses. */
import { describe, expect, it } from "vitest";
import { run } from "./shapes.ts";

const CHECK = { health_check: { timeout_seconds: 170 } };

/** A driver that waits until as many Ray nodes were started, finds every address open, and says what it was told. */
function reaches(addresses: readonly string[], rayNodes = 0): Readonly<Record<string, string>> {
	const ask = (address: string) =>
		`IFS=: read -r host port <<<"${address}" && (: >"/dev/tcp/$host/$port") || exit`;
	const wait = `until (($(ls "$STUB_RECORD" | grep -c "^ray-") >= ${rayNodes})); do sleep 0.1; done`;
	return { run: [wait, 'record "$STUB_RECORD"', ...addresses.map(ask)].join("\n") };
}

const vllm = (fields: object) => ({ type: "vllm", model: "acme/m", ...fields });

describe("one vLLM instance over several nodes", () => {
	const served = "--tensor-parallel-size 2 --pipeline-parallel-size";
	const size = "--num-cpus 2 --num-gpus 2";

	it("has its nodes joined by Ray, old or new", async () => {
		const wide = { tensor_parallel_size: 2, ...CHECK };
		const old = { env: { STUB_RAY_OLD: "lit:1" } };
		const { mixed, pinned, whole } = await run({
			mixed: {
				pools: { a: 1, b: 3 },
				gpus: 2,
				services: {
					policy: vllm({ ...wide, ...old, port: 8010, pipeline_parallel_size: 4 }),
					judge: vllm({ ...wide, port: 8011, pipeline_parallel_size: 3, node_pool: "b" }),
				},
				policy: "policy",
				benchmarks: reaches(["$HEAD_NODE_IP:8010", "node2:8011", "$RAY_HEAD_NODE_IP"]),
			},
			pinned: {
				pools: { a: 2, b: 2 },
				gpus: 2,
				services: {
					policy: vllm({ ...wide, ...old, port: 8020, pipeline_parallel_size: 2, node_pool: "b" }),
				},
				policy: "policy",
				benchmarks: reaches(["$HEAD_NODE_IP:8020", "$RAY_HEAD_NODE_IP"]),
			},
			whole: {
				pools: { a: 4 },
				gpus: 8,
				services: { policy: vllm({ tensor_parallel_size: 32, ...CHECK, extra_args: "--opt 'a  b'" }) },
				policy: "policy",
				benchmarks: reaches(["$HEAD_NODE_IP:8000"]),
			},
		});
		const ray = (port: number, depth: number) =>
			`vllm serve acme/m --port ${port} ${served} ${depth} --distributed-executor-backend ray`;
		const joined = (at: string, depth: number, port: number) =>
			`ray symmetric-run --address ${at}:6379 --min-nodes ${depth} ${size} -- ${ray(port, depth)}`;
		expect(mixed.lines).toEqual(
			[
				`node1 policy: ray start --head --port 6379 ${size}`,
				`node1 policy: ${ray(8010, 4)}`,
				...[2, 3, 4].map((n) => `node${n} policy: ray start --address <node1>:6379 ${size} --block`),
				...[2, 3, 4].map((n) => `node${n} judge: ${joined("<node2>", 3, 8011)}`),
				`node2 judge: ${ray(8011, 3)}`,
			].sort(),
		);
		expect(mixed.told).toEqual({
			HEAD_NODE_IP: "<node1>",
			RAY_HEAD_NODE_IP: "<node1>:6379",
			GYM_POOL_A_NODES: "node1",
			GYM_POOL_B_NODES: "node2,node3,node4",
		});
		expect(pinned.lines).toEqual([
			`node3 policy: ray start --head --port 6379 ${size}`,
			`node3 policy: ${ray(8020, 2)}`,
			`node4 policy: ray start --address <node3>:6379 ${size} --block`,
		]);
		expect(pinned.told).toMatchObject({ HEAD_NODE_IP: "<node3>", RAY_HEAD_NODE_IP: "<node3>:6379" });
		const server =
			"vllm serve acme/m --port 8000 --tensor-parallel-size 32 --distributed-executor-backend ray --opt a  b";
		expect(whole.lines).toEqual(
			[
				...[1, 2, 3, 4].map(
					(n) =>
						`node${n} policy: ray symmetric-run --address <node1>:6379 --min-nodes 4 --num-cpus 2 --num-gpus 8 -- ${server}`,
				),
				`node1 policy: ${server}`,
			].sort(),
		);
	});
});

describe("data parallel and prefill/decode", () => {
	it("has each server on its node", async () => {
		const tier = (node_pool: string, more = {}) => ({ node_pool, ...CHECK, ...more });
		const { parallel, tiers, perNode, oneNode } = await run({
			parallel: {
				pools: { a: 2, b: 2 },
				gpus: 2,
				services: {
					policy: vllm({
						port: 8030,
						number_of_instances: 4,
						node_pool: "b",
						...CHECK,
						data_parallel_rpc_port: 8031,
					}),
					judge: vllm({
						...{ port: 8032, number_of_instances: 4, tensor_parallel_size: 2, data_parallel_rpc_port: 8033 },
						...{ extra_args: "--api-server-count 4 --opt '{\"a\": 1}'", ...CHECK },
					}),
				},
				policy: "policy",
				benchmarks: reaches(["$HEAD_NODE_IP:8030", "$HEAD_NODE_IP:8031", "node1:8032", "node1:8033"]),
			},
			tiers: {
				pools: { p: 2, d: 2 },
				gpus: 2,
				services: {
					split: {
						...{ type: "vllm_pd", model: "acme/m", port: 8040, nixl_side_channel_port: 8043, ...CHECK },
						prefill: tier("p", { number_of_instances: 2, data_parallel_rpc_port: 8045 }),
						decode: tier("d", { number_of_instances: 2 }),
					},
				},
				policy: "split",
				benchmarks: reaches(["$HEAD_NODE_IP:8040", "node1:8041", "node3:8042"]),
			},
			perNode: {
				pools: { a: 2, b: 2 },
				gpus: 2,
				services: {
					split: {
						...{ type: "vllm_pd", model: "acme/m", port: 8050, nixl_side_channel_port: 8053, ...CHECK },
						...{ server_per_node: true, pre_command: "set -- gone" },
						prefill: tier("a"),
						decode: tier("b"),
					},
					judge: vllm({ port: 8055, node_pool: "b", number_of_instances: 2, data_parallel_rpc_port: 8056 }),
				},
				policy: "judge",
				benchmarks: reaches(["$HEAD_NODE_IP:8050", "node1:8051", "node2:8051", "node3:8052", "node4:8052"]),
			},
			oneNode: {
				pools: { a: 1 },
				gpus: 2,
				services: {
					split: {
						...{ type: "vllm_pd", model: "acme/m", port: 8060, nixl_side_channel_port: 8063, ...CHECK },
						prefill: tier("a"),
						decode: tier("a"),
					},
				},
				policy: "split",
				benchmarks: reaches(["localhost:8060", "$HEAD_NODE_IP:8061", "$HEAD_NODE_IP:8062"]),
			},
		});

		const dp = (port: number, tp: number, local: number, rpc: number, head: string) =>
			`vllm serve acme/m --port ${port} --tensor-parallel-size ${tp} --data-parallel-size 4 --data-parallel-size-local ${local} --data-parallel-rpc-port ${rpc} --data-parallel-address <${head}>`;
		const rank = (n: number) => ` --headless --data-parallel-start-rank ${n}`;
		expect(parallel.lines).toEqual(
			[
				`node3 policy: ${dp(8030, 1, 2, 8031, "node3")}`,
				`node4 policy: ${dp(8030, 1, 2, 8031, "node3")}${rank(2)}`,
				`node1 judge: ${dp(8032, 2, 1, 8033, "node1")} --api-server-count 4 --opt {"a": 1}`,
				...[2, 3, 4].map(
					(n) => `node${n} judge: ${dp(8032, 2, 1, 8033, "node1")} --opt {"a": 1}${rank(n - 1)}`,
				),
			].sort(),
		);
		expect(parallel.told).toEqual({
			HEAD_NODE_IP: "<node3>",
			RAY_HEAD_NODE_IP: "<node3>:6379",
			GYM_POOL_A_NODES: "node1,node2",
			GYM_POOL_B_NODES: "node3,node4",
		});

		const transfer = (role: string) =>
			`--kv-transfer-config {"kv_connector":"NixlConnector","kv_role":"${role}","kv_load_failure_policy":"fail"}`;
		const server = (port: number, role: string) =>
			`vllm serve acme/m --port ${port} --tensor-parallel-size 1 ${transfer(role)}`;
		const router = (node: string, port: number, prefill: string, decode: string) =>
			expect.stringMatching(
				new RegExp(
					`^${node} split: vllm-router --prefill-policy \\S+ --decode-policy \\S+ --vllm-pd-disaggregation ${prefill} ${decode} --host 0.0.0.0 --port ${port} --intra-node-data-parallel-size \\d+ --request-timeout-secs \\d+ --log-level \\S+$`,
				),
			);
		const over = (role: string, port: number, rpc: number, head: string) =>
			`${server(port, role)} --data-parallel-size 2 --data-parallel-size-local 1 --data-parallel-rpc-port ${rpc} --data-parallel-address <${head}>`;
		expect(tiers.lines).toEqual([
			`node1 split-prefill: ${over("kv_producer", 8041, 8045, "node1")}`,
			router("node1", 8040, "--prefill http://<node1>:8041", "--decode http://<node3>:8042"),
			`node2 split-prefill: ${over("kv_producer", 8041, 8045, "node1")}${rank(1)}`,
			`node3 split-decode: ${over("kv_consumer", 8042, 8046, "node3")}`,
			`node4 split-decode: ${over("kv_consumer", 8042, 8046, "node3")}${rank(1)}`,
		]);
		const ofSplit = perNode.lines.filter((line) => line.includes(" split"));
		expect(ofSplit).toEqual([
			`node1 split-prefill: ${server(8051, "kv_producer")}`,
			`node2 split-prefill_2: ${server(8051, "kv_producer")}`,
			`node3 split-decode: ${server(8052, "kv_consumer")}`,
			router(
				...(["node3", 8050] as const),
				"--prefill http://<node1>:8051 --prefill http://<node2>:8051",
				"--decode http://<node3>:8052 --decode http://<node4>:8052",
			),
			`node4 split-decode_2: ${server(8052, "kv_consumer")}`,
		]);
		const [alone] = oneNode.records.map(({ host }) => host);
		expect(oneNode.lines).toEqual([
			`${alone} split-decode: ${server(8062, "kv_consumer")}`,
			`${alone} split-prefill: ${server(8061, "kv_producer")}`,
			router(alone!, 8060, `--prefill http://<${alone}>:8061`, `--decode http://<${alone}>:8062`),
		]);
		for (const { host, env } of perNode.records) {
			if (!/split-/.test(env.SLURM_JOB_NAME!)) continue;
			expect(env).toMatchObject({
				VLLM_NIXL_SIDE_CHANNEL_HOST: host,
				VLLM_NIXL_SIDE_CHANNEL_PORT: env.SLURM_JOB_NAME!.includes("decode") ? "8054" : "8053",
				CUDA_VISIBLE_DEVICES: expect.stringMatching(/^[0-7],[0-7]$/),
			});
		}
	});
});

describe("a Ray service", () => {
	it("has its head beside the driver, and workers on the other nodes of its pools", async () => {
		const words = `--include-dashboard=false --opt "a  b"`;
		const { apart, beside } = await run({
			apart: {
				pools: { a: 1, b: 2, c: 1 },
				gpus: 2,
				services: {
					cluster: {
						...{ type: "ray", node_pools: ["b", "c"], port: 8070, num_cpus: 3, num_gpus: 1, ...CHECK },
						...{ resources: { b: { slots: 2, half: 0.5 } }, extra_args: words, health_check: null },
					},
				},
				benchmarks: reaches(["$GYM_RAY_ADDRESS_CLUSTER"], 4),
			},
			beside: {
				pools: { a: 1, "b-1": 2, c: 1 },
				gpus: 2,
				services: {
					policy: vllm({ port: 8081, node_pool: "c", ...CHECK }),
					cluster: {
						...{ type: "ray", node_pools: ["b-1", "c"], port: 8080 },
						resources: { c: { head: 1 } },
					},
				},
				policy: "policy",
				benchmarks: reaches(["$GYM_RAY_ADDRESS_CLUSTER", "$HEAD_NODE_IP:8081"], 3),
			},
		});
		const size = "--num-cpus 3 --num-gpus 1";
		expect(apart.lines).toEqual([
			`node1 cluster: ray start --block --head --port 8070 --node-ip-address <node1> ${size} --include-dashboard=false --opt a  b`,
			...[2, 3].map(
				(n) =>
					`node${n} cluster-b-workers: ray start --block --address <node1>:8070 ${size} --resources={"slots":2,"half":0.5} --opt a  b`,
			),
			`node4 cluster-c-workers: ray start --block --address <node1>:8070 ${size} --opt a  b`,
		]);
		expect(apart.told).toEqual({
			HEAD_NODE_IP: "<node1>",
			GYM_RAY_ADDRESS_CLUSTER: "<node1>:8070",
			GYM_RAY_CLUSTER_B_WORKERS: "node2,node3",
			GYM_RAY_CLUSTER_C_WORKERS: "node4",
			GYM_POOL_A_NODES: "node1",
			GYM_POOL_B_NODES: "node2,node3",
			GYM_POOL_C_NODES: "node4",
		});
		expect(beside.lines).toEqual([
			"node2 cluster-b-1-workers: ray start --block --address <node4>:8080",
			"node3 cluster-b-1-workers: ray start --block --address <node4>:8080",
			`node4 cluster: ray start --block --head --port 8080 --node-ip-address <node4> --resources={"head":1}`,
			"node4 policy: vllm serve acme/m --port 8081 --tensor-parallel-size 1",
		]);
		expect(beside.told).toMatchObject({
			HEAD_NODE_IP: "<node4>",
			GYM_RAY_ADDRESS_CLUSTER: "<node4>:8080",
			GYM_RAY_CLUSTER_B_1_WORKERS: "node2,node3",
			GYM_RAY_CLUSTER_C_WORKERS: "",
		});
	});
});
