import { describe, expect, test } from "vitest";
import {
	driver,
	findings,
	gpu,
	noPolicy,
	pd,
	pdPools,
	pools,
	services,
	slurm,
	validate,
	vllm,
} from "./document.ts";

describe("GPUs", () => {
	const fit = (fields: string, compute: string) =>
		findings({ ...services(`policy: ${vllm(`health_check: {timeout_seconds: 1800}, ${fields}`)}`), compute });

	test.each([
		["single node: all instances", "tensor_parallel_size: 2, number_of_instances: 2", pools(gpu(1)), []],
		[
			"single node: too few",
			"tensor_parallel_size: 2, pipeline_parallel_size: 3",
			pools(gpu(1)),
			["error gpus-too-few"],
		],
		["single node: idle", "tensor_parallel_size: 3", pools(gpu(1)), ["warning idle-gpus"]],
		["one instance over nodes", "tensor_parallel_size: 4, pipeline_parallel_size: 2", pools(gpu(2)), []],
		["one instance over nodes: too few", "tensor_parallel_size: 16", pools(gpu(2)), ["error gpus-too-few"]],
		[
			"replicas over nodes: a node's share",
			"tensor_parallel_size: 2, number_of_instances: 4",
			pools(gpu(2)),
			[],
		],
		[
			"replicas over nodes: too few",
			"tensor_parallel_size: 4, number_of_instances: 4",
			pools(gpu(2)),
			["error gpus-too-few"],
		],
		["replicas over nodes: idle", "number_of_instances: 2", pools(gpu(2)), ["warning idle-gpus"]],
		["gateway: total", "tensor_parallel_size: 8, number_of_instances: 2", pools(gpu(4)), []],
		[
			"gateway: too few",
			"tensor_parallel_size: 8, number_of_instances: 2",
			pools(gpu(3)),
			["error gpus-too-few"],
		],
		[
			"gateway forced: total",
			"tensor_parallel_size: 4, number_of_instances: 3, use_ray_serve: true",
			pools(gpu(3)),
			[],
		],
	] as const)("%s", (_, fields, compute, expected) => {
		expect(fit(fields, compute)).toEqual(expected.map((finding) => `${finding} services.policy`));
	});

	test("the error names the sum", () => {
		const { problems } = validate({
			...services(`policy: ${vllm("tensor_parallel_size: 16")}`),
			compute: pools(gpu(2)),
		});
		expect(problems[0]!.message).toMatch(/needs 16 GPUs, but has 8 .*16 × 1 against 8 of 2 nodes/);
	});

	test("a pinned service has its own pool's", () => {
		const compute = pools(gpu(1), gpu(2, 4, "big"));
		expect(fit("node_pool: big, tensor_parallel_size: 8", compute)).toEqual([]);
		expect(fit("tensor_parallel_size: 8", compute)).toEqual(["warning idle-gpus services.policy"]);
	});

	test("uneven replicas are refused, but not behind the gateway", () => {
		const uneven = "tensor_parallel_size: 2, number_of_instances: 3";
		expect(fit(uneven, pools(gpu(2)))).toContain("error replicas-uneven services.policy.number_of_instances");
		expect(fit(`${uneven}, use_ray_serve: true`, pools(gpu(2)))).toEqual([
			"warning idle-gpus services.policy",
		]);
	});

	test("each tier is checked on its pool", () => {
		const compute = pools(gpu(1, 8, "pre"), gpu(1, 2, "dec"));
		expect(findings({ ...services(pd("")), compute, driver: noPolicy })).toEqual([
			"warning idle-gpus services.duo.prefill",
			"error gpus-too-few services.duo.decode",
		]);
	});

	test("services that crowd a node together are warned of", () => {
		const two = services(
			`a: ${vllm("tensor_parallel_size: 4")}`,
			`b: ${vllm("tensor_parallel_size: 4, port: 8100")}`,
			`c: ${vllm("node_pool: big, tensor_parallel_size: 4, port: 8200")}`,
		);
		const compute = pools(gpu(1), gpu(1, 4, "big"));
		const found = findings({ ...two, compute, driver: noPolicy }).filter((finding) =>
			finding.includes("gpus-shared"),
		);
		// a and b share two nodes, two GPUs each; c takes all of the second one.
		expect(found).toEqual(["warning gpus-shared services.c"]);
	});

	test("no pool that says how many: nothing to check, but the node may be shared", () => {
		expect(fit("tensor_parallel_size: 16", slurm(""))).toEqual(["warning shared-node compute.lab"]);
		expect(fit("tensor_parallel_size: 16", slurm("extra_args: {exclusive: true}"))).toEqual([]);
		expect(fit("", slurm("extra_args: {exclusive: user}"))).toEqual(["warning shared-node compute.lab"]);
	});
});

describe("prefill and decode", () => {
	const found = (fields: string, compute = pdPools) =>
		findings({ ...services(pd(fields)), compute, driver: noPolicy });
	const tiers = (prefill: string, decode: string) => `prefill: {${prefill}}, decode: {${decode}}`;
	const bare = (fields: string, compute = pdPools) =>
		findings({
			...services(`duo: {type: vllm_pd, container: c, model: m, ${fields}}`),
			compute,
			driver: noPolicy,
		});

	test("a plain one has nothing to say", () => expect(found("")).toEqual([]));

	test("tiers need pools", () => {
		expect(bare(tiers("tensor_parallel_size: 4", "node_pool: dec, tensor_parallel_size: 4"))).toContain(
			"error tier-without-pool services.duo.prefill.node_pool",
		);
	});

	test("tiers on one pool are warned of, and overlapping side channels", () => {
		const shared = tiers(
			"node_pool: pre, tensor_parallel_size: 2",
			"node_pool: pre, tensor_parallel_size: 2",
		);
		expect(bare(shared, pools(gpu(1, 2, "pre")))).toEqual([
			"warning tiers-share-pool services.duo.decode.node_pool",
			"warning gpus-shared services.duo.decode",
			"warning side-channels-overlap services.duo.nixl_side_channel_port",
		]);
	});

	test("decode meets on prefill's port + 1 by default, never on the same", () => {
		const given = (rpc: string) =>
			tiers(`node_pool: pre, tensor_parallel_size: 4, ${rpc}`, "node_pool: dec, tensor_parallel_size: 4");
		const { config } = validate({
			...services(`duo: {type: vllm_pd, container: c, model: m, ${given("data_parallel_rpc_port: 20000")}}`),
			compute: pdPools,
			driver: noPolicy,
		});
		expect(config?.services.get("duo")).toMatchObject({
			decode: { data_parallel_rpc_port: 20001, port: 8002 },
		});
		const same = tiers("node_pool: pre", "node_pool: dec, data_parallel_rpc_port: 13345");
		expect(bare(same)).toContain("error tier-rpc-port services.duo.decode.data_parallel_rpc_port");
	});

	test("one instance a tier with server_per_node", () => {
		const two = tiers("node_pool: pre, number_of_instances: 2", "node_pool: dec, tensor_parallel_size: 4");
		expect(bare(`server_per_node: true, ${two}`)).toContain(
			"error tier-instances services.duo.prefill.number_of_instances",
		);
	});

	test("the router is on the first pool", () => {
		expect(found("node_pool: dec")).toEqual(["error router-not-first services.duo.node_pool"]);
		expect(found("node_pool: pre")).toEqual([]);
	});

	test("a short request timeout is warned of", () => {
		expect(found("request_timeout_secs: 599")).toEqual([
			"warning short-request-timeout services.duo.request_timeout_secs",
		]);
		expect(found("request_timeout_secs: 600")).toEqual([]);
	});

	test("derived ports exist", () => {
		expect(found("port: 65534")).toEqual(["error out-of-range services.duo.port"]);
		expect(found("nixl_side_channel_port: 65535")).toEqual([
			"error out-of-range services.duo.nixl_side_channel_port",
		]);
	});

	test("a router in another image than its tiers is noted, with the images", () => {
		const images = `container: "router:1", model: m`;
		const prefill = "prefill: {node_pool: pre, tensor_parallel_size: 4}";
		const decode = `decode: {container: "vllm:2", node_pool: dec, tensor_parallel_size: 4}`;
		const entry = services(`duo: {type: vllm_pd, ${images}, ${prefill}, ${decode}}`);
		const { problems } = validate({ ...entry, compute: pdPools, driver: noPolicy });
		expect(problems).toMatchObject([
			{ severity: "note", code: "router-image", at: "services.duo.container" },
		]);
		expect(problems[0]!.message).toMatch(/router:1.*vllm:2.*vllm-router/);
	});

	test("tier names are taken", () => {
		const taken = `duo-decode: ${vllm("node_pool: dec, port: 8100, tensor_parallel_size: 4")}`;
		expect(findings({ ...services(pd(""), taken), compute: pdPools, driver: noPolicy })).toEqual([
			"error tier-name-taken services.duo-decode",
			"warning gpus-shared services.duo-decode",
		]);
	});
});

describe("ray", () => {
	const compute = pools(gpu(1), gpu(1, 4, "aux"));
	const found = (fields: string, benchmarks = noPolicy) =>
		findings({ ...services(`hub: {type: ray, container: c, ${fields}}`), compute, driver: benchmarks });

	test("pools exist, once each, and hold the resources", () => {
		expect(found("node_pools: [gpu, nope, gpu], resources: {aux: {a: 1}, gpu: {b: 0.5}}")).toEqual([
			"error pool-unknown services.hub.node_pools[1]",
			"error ray-pool-twice services.hub.node_pools[2]",
			"error ray-resources-pool services.hub.resources.aux",
		]);
	});

	test.each([
		["--port 7000", 1],
		["--min-worker-port 1 --port=7000", 1],
		["'--port' '7000'", 1],
		["--port 6379", 0],
		["--min-worker-port 7000 --dashboard-port=1", 0],
	])("extra_args %j", (args, errors) => {
		const expected = Array.from({ length: errors }, () => "error ray-port-differs services.hub.extra_args");
		expect(found(`extra_args: ${JSON.stringify(args)}`)).toEqual(expected);
	});

	test("as the policy nothing is wired", () => {
		const sections = { ...services("hub: {type: ray, container: c}"), driver: driver("policy_model: hub") };
		expect(findings(sections)).toEqual(["warning policy-is-ray driver.policy_model"]);
		expect(validate(sections).config!.driver.benchmarks.get("sums")!.run.has("policy_base_url")).toBe(false);
	});

	test("heads of two benchmarks' jobs may meet on a shared node", () => {
		const two = "{benchmarks: {a: {run: {x: 1}}, b: {run: {x: 1}}}}";
		expect(found("node_pools: [gpu]", two)).toEqual(["warning shared-node compute.lab"]);
	});
});
