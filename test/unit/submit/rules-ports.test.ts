import { describe, expect, test } from "vitest";
import { findings, gpu, noPolicy, pd, pdPools, pools, services, slurm, validate, vllm } from "./document.ts";

const alone = pools(gpu(1));
const two = pools(gpu(1), gpu(1, 4, "aux"));
const wide = pools(gpu(2));
const ray = (fields: string) => `hub: {type: ray, container: c, ${fields}}`;
const started = "health_check: {timeout_seconds: 1800}";
const over = (fields: string) => vllm(`${started}, tensor_parallel_size: 8, ${fields}`);
const OTEL = "{endpoint: e, service_name: s, gym_telemetry: false}";

/** Findings about ports alone, as `severity code at`. */
function found(entries: readonly string[], compute: string, otel = "{enabled: false}") {
	const all = findings({ ...services(...entries), compute, driver: noPolicy, otel });
	return all.filter((finding) => /port-clash|port-contested|side-channels-overlap/.test(finding));
}

describe("ports that two programs need on one node", () => {
	const copies = "number_of_instances: 2";

	test.each([
		["two services", [`a: ${vllm("")}`, `b: ${vllm("")}`], alone, ["b.port"]],
		["ports of their own", [`a: ${vllm("")}`, `b: ${vllm("port: 8001")}`], alone, []],
		["two pools", [`a: ${vllm("node_pool: gpu")}`, `b: ${vllm("node_pool: aux")}`], two, []],
		["unpinned, and on the second pool", [`a: ${vllm("")}`, `b: ${vllm("node_pool: aux")}`], two, []],
		["unpinned, and on the first pool", [`a: ${vllm("")}`, `b: ${vllm("node_pool: gpu")}`], two, ["b.port"]],
		["Ray heads of a service and a model", [`a: ${over("")}`, ray("")], wide, ["hub.port"]],
		["a Ray head on another port", [`a: ${over("")}`, ray("port: 6380")], wide, []],
		["two models over nodes", [`a: ${over("")}`, `b: ${over("port: 8001")}`], wide, ["b.node_pool"]],
		["a gateway over nodes", [`a: ${over(copies)}`, ray("")], wide, ["hub.port"]],
		["a gateway on one node has no Ray head", [`a: ${vllm("use_ray_serve: true")}`, ray("")], alone, []],
		["where ranks meet", [`a: ${vllm(copies)}`, `b: ${vllm("port: 13345")}`], wide, ["b.port"]],
		["ranks of one node need no port", [`a: ${vllm(copies)}`, `b: ${vllm("port: 13345")}`], alone, []],
		[
			"ranks of two models",
			[`a: ${vllm(copies)}`, `b: ${vllm(`${copies}, port: 8001`)}`],
			wide,
			["b.data_parallel_rpc_port"],
		],
		["a router", [pd(""), `b: ${vllm("node_pool: pre")}`], pdPools, ["b.port"]],
		["a tier", [pd(""), `b: ${vllm("node_pool: dec, port: 8002")}`], pdPools, ["b.port"]],
		["prefill's port on decode's pool", [pd(""), `b: ${vllm("node_pool: dec, port: 8001")}`], pdPools, []],
		[
			"a tier on its second pool node",
			[pd("server_per_node: true"), `b: ${vllm(`node_pool: late, port: 8002`)}`, `c: ${over("port: 8002")}`],
			pools(gpu(1, 4, "dec"), gpu(2, 4, "pre"), gpu(1, 4, "late")),
			["c.port"],
		],
	] as const)("%s", (_, entries, compute, at) => {
		expect(found(entries, compute)).toEqual(at.map((path) => `error port-clash services.${path}`));
	});

	test.each([4317, 4318, 13133])("the collector has %i on the driver's node while it is on", (port) => {
		const entries = [`a: ${vllm(`port: ${port}`)}`];
		expect(found(entries, alone, OTEL)).toEqual(["error port-clash services.a.port"]);
		expect(found(entries, alone)).toEqual([]);
		expect(found([`a: ${vllm(`node_pool: aux, port: ${port}`)}`], two, OTEL)).toEqual([]);
	});

	test("says who has the port, where, and what to do", () => {
		const entries = services(`a: ${vllm("")}`, `b: ${vllm("")}`);
		const { problems } = validate({ ...entries, compute: alone, driver: noPolicy });
		expect(problems.find(({ code }) => code === "port-clash")).toMatchObject({
			message: "port 8000 of node 0 is also used by services.a (server)",
			remedy: "use another port, or other nodes",
		});
	});
});

describe("ports that a helper may hold first", () => {
	const dashboard = `a: ${vllm("port: 8265")}`;

	test.each([
		["the dashboard of a Ray service", [ray(""), dashboard], alone, ["a.port"]],
		["whichever is declared first", [dashboard, ray("")], alone, ["a.port"]],
		["the dashboard of a model over nodes", [`a: ${over("port: 8265")}`], wide, ["a.port"]],
		["no dashboard", [ray('extra_args: "--include-dashboard=false"'), dashboard], alone, []],
		["a moved dashboard", [ray('extra_args: "--dashboard-port 9000"'), dashboard], alone, []],
		["where it moved to", [ray('extra_args: "--dashboard-port=8000"'), `a: ${vllm("")}`], alone, ["a.port"]],
		["another node", [ray(""), `a: ${vllm("node_pool: aux, port: 8265")}`], two, []],
		["two dashboards: Ray does without", [ray(""), ray("port: 6380").replace("hub", "x")], alone, []],
	] as const)("%s", (_, entries, compute, at) => {
		expect(found(entries, compute)).toEqual(at.map((path) => `warning port-contested services.${path}`));
	});

	test.each([8888, 9400, 9100])("what is beside the collector has %i", (port) => {
		const entries = [`a: ${vllm(`port: ${port}`)}`];
		expect(found(entries, alone, OTEL)).toEqual(["warning port-contested services.a.port"]);
		expect(found(entries, alone)).toEqual([]);
		const unread = OTEL.replace("}", ", gpu_metrics_port: null, node_metrics_port: null}");
		expect(found(entries, alone, unread)).toHaveLength(port === 8888 ? 1 : 0);
	});
});

describe("side channels: a port for every worker", () => {
	const tiers = (prefill: string, decode: string, more = "") =>
		`duo: {type: vllm_pd, container: c, model: m, prefill: {${prefill}}, decode: {${decode}}, ${more}}`;
	const compute = pools(gpu(1, 8, "pre"), gpu(1, 8, "dec"));
	const four = "node_pool: pre, tensor_parallel_size: 4";
	const own = "env: {VLLM_NIXL_SIDE_CHANNEL_PORT: 'lit:7000'}";
	const second = tiers("node_pool: pre, port: 8101", "node_pool: dec, port: 8102", "port: 8100");

	test.each([
		["tiers on separate pools", [tiers(four, four.replace("pre", "dec"))], []],
		["prefill's range reaches decode's", [tiers(four, "node_pool: pre")], ["duo"]],
		["replicas count", [tiers("node_pool: pre, number_of_instances: 2", "node_pool: pre")], ["duo"]],
		["one worker each", [tiers("node_pool: pre", "node_pool: pre")], []],
		["a service in it", [tiers(four, "node_pool: dec"), `a: ${vllm("node_pool: pre, port: 5603")}`], ["duo"]],
		["a service above it", [tiers(four, "node_pool: dec"), `a: ${vllm("node_pool: pre, port: 5604")}`], []],
		["a port of the user's own", [tiers(`${four}, ${own}`, "node_pool: pre")], []],
		[
			"two services on the same pools",
			[tiers("node_pool: pre", "node_pool: dec"), second.replace("duo", "trio")],
			["trio"],
		],
	] as const)("%s", (_, entries, at) => {
		const overlaps = found(entries, compute).filter((f) => f.includes("side-channels"));
		const paths = at.map((name) => `services.${name}.nixl_side_channel_port`);
		expect(overlaps).toEqual(paths.map((path) => `warning side-channels-overlap ${path}`));
	});

	test("the range ends below 65536", () => {
		const errors = (port: number) => {
			const entry = tiers(four, "node_pool: dec", `nixl_side_channel_port: ${port}`);
			return findings({ ...services(entry), compute, driver: noPolicy }).filter((f) => f.startsWith("error"));
		};
		expect(errors(65532)).toEqual([]);
		expect(errors(65533)).toEqual(["error out-of-range services.duo.nixl_side_channel_port"]);
	});

	test("the ports are named", () => {
		const { problems } = validate({ ...services(tiers(four, "node_pool: pre")), compute, driver: noPolicy });
		const { message, remedy } = problems.find(({ code }) => code === "side-channels-overlap")!;
		expect(message).toMatch(/port 5601 of node 0 .*ports 5600 to 5603/);
		expect(remedy).toContain("separate pools");
	});
});

describe("nodes that are not taken whole", () => {
	const benchmarks = "{benchmarks: {a: {run: {x: 1}}, b: {run: {x: 1}}}}";
	const whole = "gpu: {partition: p, extra_args: {exclusive: true}}";
	const a = [`a: ${vllm("")}`];

	test.each([
		["no pool says how many GPUs", a, slurm(""), noPolicy, true],
		["one pool does not say", a, pools(gpu(1), "aux: {partition: p}"), noPolicy, true],
		["taken whole", a, slurm("extra_args: {exclusive: true}"), noPolicy, false],
		["taken whole by a pool's directive", a, pools(whole), noPolicy, false],
		["shared with the user's other jobs", a, slurm("extra_args: {exclusive: user}"), noPolicy, true],
		["no services", [], slurm(""), noPolicy, false],
		["Ray heads of two benchmarks", [ray("node_pools: [gpu]")], alone, benchmarks, true],
		["Ray heads of models over nodes, two benchmarks", [`a: ${over("")}`], wide, benchmarks, true],
		["one benchmark has one head", [`a: ${over("")}`], wide, noPolicy, false],
		["two benchmarks without Ray", a, alone, benchmarks, false],
	] as const)("%s", (_, entries, compute, driver, warned) => {
		const all = findings({ ...services(...entries), compute, driver });
		expect(all.filter((f) => f.includes("shared-node"))).toEqual(
			warned ? ["warning shared-node compute.lab"] : [],
		);
	});
});

describe("time to start", () => {
	const WARNED = "warning start-limit-short services.a.health_check";

	test.each([
		["many parameters by its name", "", "meta-llama/Llama-3.1-405B-Instruct", true],
		["a mixture's whole size counts", "", "Qwen/Qwen3-235B-A22B", true],
		["small letters", "", "/models/talker-70b", true],
		["a small model", "", "Qwen/Qwen3-8B", false],
		["a number that is no size", "", "acme/talker-405", false],
		["many GPUs for one instance", "tensor_parallel_size: 8", "acme/talker", true],
		["stages count", "tensor_parallel_size: 4, pipeline_parallel_size: 2", "acme/talker", true],
		["replicas do not", "number_of_instances: 8", "acme/talker", false],
		["given time", "tensor_parallel_size: 8, health_check: {timeout_seconds: 900}", "acme/talker", false],
		["given a path only", "tensor_parallel_size: 8, health_check: {path: /v1/models}", "acme/talker", true],
	] as const)("%s", (_, fields, model, warned) => {
		const entry = `a: {type: vllm, container: c, model: ${model}, ${fields}}`;
		const compute = slurm("extra_args: {exclusive: true}");
		expect(findings({ ...services(entry), compute, driver: noPolicy })).toEqual(warned ? [WARNED] : []);
	});

	test("each tier has its own", () => {
		const size = "tensor_parallel_size: 8";
		const tiers = `prefill: {node_pool: pre, ${size}}, decode: {node_pool: dec, ${size}, ${started}}`;
		const entry = services(`duo: {type: vllm_pd, container: c, model: m, ${tiers}}`);
		const compute = pools(gpu(1, 8, "pre"), gpu(1, 8, "dec"));
		expect(findings({ ...entry, compute, driver: noPolicy })).toEqual([
			"warning start-limit-short services.duo.prefill.health_check",
		]);
	});
});
