import { describe, expect, test } from "vitest";
import { loadSubmitYaml } from "../../../src/load/submit-yaml.ts";
import { checkPools } from "../../../src/submit/rules/pools.ts";
import { validateDocument } from "../../../src/submit/validate.ts";
import { documentText, findings, type Sections, validate } from "./document.ts";

const vllm = (fields: string) => `{type: vllm, container: c, model: m, ${fields}}`;
const services = (...entries: string[]): Sections => ({ services: `{${entries.join(", ")}}` });
const slurm = (fields: string) => `{lab: {type: slurm, account: a, ${fields}}}`;
const pools = (...entries: string[]) => slurm(`node_pools: {${entries.join(", ")}}`);
const gpu = (nodes: number, gpus = 4, name = "gpu") =>
	`${name}: {partition: p, nodes: ${nodes}, gpus_per_node: ${gpus}}`;
const driver = (fields: string) => `{benchmarks: {sums: {run: {x: 1}}}, ${fields}}`;
const noPolicy = driver("");
const pd = (fields: string) =>
	`duo: {type: vllm_pd, container: c, model: m, prefill: {node_pool: pre, tensor_parallel_size: 4}, ` +
	`decode: {node_pool: dec, tensor_parallel_size: 4}, ${fields}}`;
const pdPools = pools(gpu(1, 4, "pre"), gpu(1, 4, "dec"));

test("a plain document has nothing to say", () => {
	expect(findings()).toEqual([]);
});

test("rules across fields all speak at once", () => {
	const found = findings({
		services: `{policy: ${vllm("node_pool: gpus, placement: other")}}`,
		driver: "{policy_model: polizy, benchmarks: {sums: {run: {x: 1}, command: run}}}",
		job: "{output_path: ~/evals}",
	});
	expect(found).toEqual([
		"error placement-unknown services.policy.placement",
		"error pool-unknown services.policy.node_pool",
		"error policy-unknown driver.policy_model",
		"error command-combined driver.benchmarks.sums.command",
		"error output-path-not-absolute job.output_path",
	]);
});

test("the position of a finding is the user's line and column", () => {
	const { problems } = validate({ driver: "{policy_model: polizy, benchmarks: {sums: {run: {x: 1}}}}" });
	const column = documentText().split("\n")[2]!.indexOf("policy_model") + 1;
	expect(problems[0]).toMatchObject({
		source: { file: "submit.yaml", line: 3, column },
		remedy: 'did you mean "policy"?',
	});
});

describe("GPUs", () => {
	const fit = (fields: string, compute: string) =>
		findings({ ...services(`policy: ${vllm(fields)}`), compute });

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
		expect(found).toEqual(["warning gpus-shared services.b", "warning gpus-shared services.c"]);
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

	test("tier names are taken", () => {
		const taken = `duo-decode: ${vllm("node_pool: dec, port: 8100, tensor_parallel_size: 4")}`;
		expect(findings({ ...services(pd(""), taken), compute: pdPools, driver: noPolicy })).toEqual([
			"error tier-name-taken services.duo-decode",
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

describe("ports", () => {
	const two = (first: string, second: string, compute: string) =>
		findings({ ...services(`a: ${vllm(first)}`, `b: ${vllm(second)}`), compute, driver: noPolicy }).filter(
			(f) => f.includes("port-clash"),
		);

	test("two on one node clash, on two nodes not", () => {
		expect(two("", "", pools(gpu(1)))).toEqual(["error port-clash services.b.port"]);
		expect(two("", "port: 8001", pools(gpu(1)))).toEqual([]);
		expect(two("node_pool: gpu", "node_pool: aux", pools(gpu(1), gpu(1, 4, "aux")))).toEqual([]);
		expect(two("", "node_pool: aux", pools(gpu(1), gpu(1, 4, "aux")))).toEqual([]);
		expect(two("", "node_pool: gpu", pools(gpu(1), gpu(1, 4, "aux")))).toEqual([
			"error port-clash services.b.port",
		]);
	});

	test("a model over nodes starts a Ray head of its own", () => {
		const sections = {
			...services(`a: ${vllm("tensor_parallel_size: 8")}`, "hub: {type: ray, container: c}"),
			compute: pools(gpu(2)),
			driver: noPolicy,
		};
		expect(findings(sections)).toEqual(["error port-clash services.hub.port"]);
	});

	test("the collector's ports are taken while it is on", () => {
		const otel = "{endpoint: e, service_name: s, gym_telemetry: false}";
		const collector = { ...services(`a: ${vllm("tensor_parallel_size: 4, port: 4318")}`), driver: noPolicy };
		expect(findings({ ...collector, otel })).toEqual(["error port-clash services.a.port"]);
		expect(findings(collector)).toEqual([]);
	});
});

describe("directives", () => {
	const found = (args: string, more = "") =>
		findings({ compute: slurm(`node_pools: {${gpu(1)}}, extra_args: {${args}}, ${more}`) });

	test.each([
		"chdir",
		"array",
		"hold",
		"dependency",
		"parsable",
		"requeue",
		"no-requeue",
		"signal",
		"D",
		"a",
		"H",
		"d",
		"sig",
	])("%s is the engine's", (key) => {
		expect(found(`${key}: x`)).toEqual([`error directive-reserved compute.lab.extra_args.${key}`]);
	});

	test.each([
		"job-name: x",
		"comment: 'run #3 of 4'",
		"qos: low",
		"exclusive: true",
		"mem: 10",
		"overcommit: null",
	])("%s is the user's", (entry) => expect(found(entry)).toEqual([]));

	test.each(["--qos", '"a b"', '"a=b"', '"a\\nb"'])("%s is no name", (key) => {
		expect(found(`${key}: x`)).toEqual([
			expect.stringMatching(/^error directive-name compute\.lab\.extra_args\./),
		]);
	});

	test("pools' directives are looked at too", () => {
		const compute = pools("gpu: {partition: p, gpus_per_node: 4, extra_args: {array: 1-3}}");
		expect(findings({ compute })).toEqual([
			"error directive-reserved compute.lab.node_pools.gpu.extra_args.array",
		]);
	});

	test("values stay on their line", () => {
		expect(found('qos: "low\\n#SBATCH --x"')).toEqual(["error line-break compute.lab.extra_args.qos"]);
	});

	test("a comment has at most 1024 bytes", () => {
		expect(found(`comment: ${"x".repeat(1024)}`)).toEqual([]);
		expect(found(`comment: ${"x".repeat(1025)}`)).toEqual([
			"error comment-too-long compute.lab.extra_args.comment",
		]);
	});

	test("an export that keeps variables out is warned of, with what is lost", () => {
		const forward = "forward_env: [HF_TOKEN]";
		expect(found("export: NONE", forward)).toEqual(["warning export-none compute.lab.extra_args.export"]);
		expect(found("export: NONE")).toEqual([]);
		expect(found("export: 'MYVAR=1'", forward)).toEqual([
			"warning export-drops compute.lab.extra_args.export",
		]);
		expect(found("export: 'ALL,MYVAR=1'", forward)).toEqual([]);
		const compute = slurm(`node_pools: {${gpu(1)}}, extra_args: {export: 'MYVAR=1'}, ${forward}`);
		expect(validate({ compute }).problems[0]).toMatchObject({
			message: expect.stringContaining("HF_TOKEN"),
			remedy: "write ALL,MYVAR=1",
		});
	});

	test("runtime: values need the environment too", () => {
		const compute = slurm(`node_pools: {${gpu(1)}}, extra_args: {export: NONE}`);
		const wanted = driver("policy_model: policy, env: {T: runtime:T_VAR}");
		const { problems } = validate({ compute, driver: wanted });
		expect(problems).toMatchObject([{ code: "export-none", message: expect.stringContaining("T_VAR") }]);
	});
});

describe("names", () => {
	const ray = (name: string, port: number) => `${name}: {type: ray, container: c, port: ${port}}`;

	test("variables that would be one are refused, only where they exist", () => {
		expect(findings({ ...services(ray("a-b", 1001), ray("a_b", 1002)), driver: noPolicy })).toEqual([
			"error variable-clash services.a_b",
		]);
		const models = services(
			`a-b: ${vllm("tensor_parallel_size: 4")}`,
			`a_b: ${vllm("port: 1, tensor_parallel_size: 4")}`,
		);
		expect(findings({ ...models, driver: noPolicy })).toEqual([]);
		const compute = pools(gpu(1, 4, "x-y"), gpu(1, 4, "X.Y"));
		expect(findings({ ...services(), compute, driver: noPolicy })).toEqual([
			"error variable-clash compute.lab.node_pools.X.Y",
		]);
	});

	test.each(['"a/b"', '"a\\nb"', '""', "driver", "x".repeat(201)])(
		"a service cannot be called %s",
		(name) => {
			expect(
				findings({ ...services(`${name}: ${vllm("tensor_parallel_size: 4")}`), driver: noPolicy }),
			).toEqual([expect.stringMatching(/^error service-name services/)]);
		},
	);
});

describe("values of env", () => {
	const env = (entries: string) => services(`policy: ${vllm(`tensor_parallel_size: 4, env: {${entries}}`)}`);
	const hostEnv = (name: string) =>
		name === "BIG" ? "x".repeat(128 * 1024) : name === "SET" ? "" : undefined;

	test("host variables are set, or it is a note", () => {
		const sections = env('A: host:SET, B: host:UNSET, C: "lit:host:UNSET", D: runtime:UNSET');
		expect(findings(sections, { hostEnv })).toEqual(["error host-variable-unset services.policy.env.B"]);
		expect(findings(sections, { hostEnv, missingHost: "note" })).toEqual([
			"note host-variable-unset services.policy.env.B",
		]);
		expect(validate(sections, { hostEnv, missingHost: "note" }).config).not.toBeNull();
	});

	test("tiers' and the driver's are looked at too", () => {
		const tier = "node_pool: pre, tensor_parallel_size: 4, env: {A: host:NO}";
		const sections = {
			...services(
				`duo: {type: vllm_pd, container: c, model: m, prefill: {${tier}}, decode: {node_pool: dec, tensor_parallel_size: 4}}`,
			),
			compute: pdPools,
			driver: driver("env: {B: host:NO}"),
		};
		expect(findings(sections)).toEqual([
			"error host-variable-unset services.duo.prefill.env.A",
			"error host-variable-unset driver.env.B",
		]);
	});

	test("a value too long for a process is refused without showing it", () => {
		const { problems } = validate(
			env(`A: host:BIG, B: lit:${"y".repeat(128 * 1024 - 17)}, C: lit:${"y".repeat(128 * 1024 - 18)}`),
			{
				hostEnv,
			},
		);
		expect(problems.map(({ code, at }) => [code, at])).toEqual([
			["env-value-too-long", "services.policy.env.A"],
			["env-value-too-long", "services.policy.env.B"],
		]);
		expect(JSON.stringify(problems)).not.toMatch(/xxx|yyy/);
	});
});

describe("policy", () => {
	test("its keys cannot be set twice, each is named", () => {
		const run = "{policy_base_url: u, policy_api_key: null, other: 1}";
		expect(findings({ driver: `{policy_model: policy, benchmarks: {sums: {run: ${run}}}}` })).toEqual([
			"error policy-conflict driver.benchmarks.sums.run.policy_base_url",
			"error policy-conflict driver.benchmarks.sums.run.policy_api_key",
		]);
		expect(findings({ driver: `{benchmarks: {sums: {run: ${run}}}}` })).toEqual([]);
	});

	test("a left-over oc.env of the job's own variable stays for the driver", () => {
		const { config } = validate({
			driver: driver('policy_model: policy, policy_host: "${oc.env:HEAD_NODE_IP}"'),
		});
		expect(config!.driver.benchmarks.get("sums")!.run.get("policy_base_url")).toBe(
			"http://${oc.env:HEAD_NODE_IP}:8000/v1",
		);
	});
});

describe("chains and durations", () => {
	const chain = (resumable: string) => ({
		driver: `{policy_model: policy, benchmarks: {sums: {run: {x: 1}, resumable: ${resumable}}}}`,
	});
	const at = "driver.benchmarks.sums.resumable";

	test("no cap is warned of", () => {
		expect(findings(chain("true"))).toEqual([`warning no-walltime-cap ${at}`]);
		expect(findings(chain("{max_retries: 1}"))).toEqual([`warning no-walltime-cap ${at}`]);
		expect(findings(chain("{max_walltime: 2-0}"))).toEqual([]);
		expect(findings(chain("false"))).toEqual([]);
	});

	test("48:00 is 48 minutes, and said so", () => {
		expect(findings(chain('{max_walltime: "48:00"}'))).toEqual([
			`note minutes-and-seconds ${at}.max_walltime`,
		]);
		const { problems } = validate({ compute: slurm(`walltime: 48:00, node_pools: {${gpu(1)}}`) });
		expect(problems).toMatchObject([{ severity: "note", message: expect.stringContaining("48 minutes") }]);
	});

	test("command excludes run and resumable", () => {
		const both = "{benchmarks: {sums: {command: x, resumable: {max_walltime: 1-0}}}}";
		expect(findings({ driver: both })).toEqual(["error command-combined driver.benchmarks.sums.command"]);
	});
});

describe("places", () => {
	test.each(["~/evals", "$SCRATCH/evals", "/lake/$USER", "evals", "./x"])(
		"output_path %s is refused",
		(path) => {
			expect(findings({ job: `{output_path: "${path}"}` })).toEqual([
				"error output-path-not-absolute job.output_path",
			]);
		},
	);

	test("images", () => {
		const image = (name: string) =>
			findings({ driver: driver(`policy_model: policy, container: "${name}"`) });
		expect(image("vllm.sqsh")).toEqual(["warning image-file driver.container"]);
		expect(image("./vllm.sqsh")).toEqual([]);
		expect(image("dockerd://img:1")).toEqual(["error image-dockerd driver.container"]);
	});
});

describe("collector", () => {
	test("on by default, it needs a destination and Gym's install", () => {
		expect(findings({ otel: "{}" })).toEqual([
			"error otel-incomplete otel.endpoint",
			"error otel-incomplete otel.service_name",
			"error otel-telemetry otel.gym_telemetry",
		]);
		expect(findings({ otel: "{endpoint: e, service_name: s, gym_telemetry: false}" })).toEqual([]);
	});
});

describe("pool agreement", () => {
	const found = (...entries: string[]) => {
		const { config } = validate({ ...services(), compute: pools(...entries), driver: noPolicy });
		return checkPools(config!).map(({ code, at }) => `${code} ${at}`);
	};

	test("pools of one job agree", () => {
		expect(found(gpu(1), gpu(3, 4, "aux"))).toEqual([]);
		expect(
			found("a: {partition: p, extra_args: {mem: 10}}", 'b: {partition: p, extra_args: {mem: "10", qos: x}}'),
		).toEqual([]);
	});

	test("each disagreement is named, with both values", () => {
		const a = "a: {partition: p, gpus_per_node: 4, extra_args: {mem: 10G}}";
		const b = "b: {partition: q, ntasks_per_node: 2, extra_args: {mem: 20G}}";
		expect(found(a, b)).toEqual([
			"pools-disagree compute.lab.node_pools.b.partition",
			"pools-disagree compute.lab.node_pools.b.ntasks_per_node",
			"pools-disagree compute.lab.node_pools.b.gpus_per_node",
			"pools-disagree compute.lab.node_pools.b.extra_args.mem",
		]);
	});
});

test("without sources problems have no position", () => {
	const { raw } = loadSubmitYaml(documentText({ job: "{output_path: x}" }), "submit.yaml");
	const { problems } = validateDocument(raw, { hostEnv: () => undefined, missingHost: "error" });
	expect(problems).toHaveLength(1);
	expect(problems[0]).not.toHaveProperty("source");
});
