import { describe, expect, test } from "vitest";
import { loadSubmitYaml } from "../../../src/load/submit-yaml.ts";
import { validateDocument } from "../../../src/submit/validate.ts";
import {
	documentText,
	driver,
	findings,
	gpu,
	noPolicy,
	pools,
	services,
	validate,
	vllm,
} from "./document.ts";

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
		expect(findings({ ...models, driver: noPolicy })).toEqual(["warning gpus-shared services.a_b"]);
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

test("without sources problems have no position", () => {
	const { raw } = loadSubmitYaml(documentText({ job: "{output_path: x}" }), "submit.yaml");
	const { problems } = validateDocument(raw, { hostEnv: () => undefined, missingHost: "error" });
	expect(problems).toHaveLength(1);
	expect(problems[0]).not.toHaveProperty("source");
});
