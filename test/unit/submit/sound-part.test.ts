import { describe, expect, test } from "vitest";
import { findings, gpu, pools, type Sections, validate, vllm } from "./document.ts";

/** Sound in form, and something is found in every part. */
const POLICY = vllm("node_pool: pre, tensor_parallel_size: 4, env: {A: host:A}");
const JUDGE = vllm("node_pool: gone, port: 8001, tensor_parallel_size: 4");
const HUB = "{type: ray, container: r, node_pools: [dec, dec]}";
const SUMS = "{run: {x: 1}, command: go}";
const CHAIN = "{resumable: true}";
const BASE = {
	services: `{policy: ${POLICY}, judge: ${JUDGE}, hub: ${HUB}}`,
	compute: pools(gpu(2, 4, "pre"), gpu(1, 4, "dec")),
	driver: `{policy_model: policy, benchmarks: {sums: ${SUMS}, chain: ${CHAIN}}}`,
	job: "{output_path: evals}",
	otel: "{endpoint: e}",
} satisfies Sections;
const ALL = findings(BASE);

test("the sample has findings everywhere", () => {
	for (const part of [
		"services.policy",
		"services.judge",
		"services.hub",
		"driver.benchmarks",
		"job",
		"otel",
	]) {
		expect(
			ALL.some((finding) => finding.includes(` ${part}`)),
			part,
		).toBe(true);
	}
});

const edit = (section: keyof typeof BASE, from: string, to: string): Sections => {
	expect(BASE[section]).toContain(from);
	return { ...BASE, [section]: BASE[section].replace(from, to) };
};

describe("beside a malformed part, the rest is judged, and nothing follows from the part alone", () => {
	test.each<[string, Sections, string, string[]]>([
		[
			"the policy",
			edit("services", "node_pool: pre", "prot: 1"),
			"unknown-key services.policy.prot",
			["judge", "hub", "sums", "job", "otel"],
		],
		[
			"a service",
			edit("services", "port: 8001", "port: x"),
			"wrong-type services.judge.port",
			["policy", "hub", "sums", "job", "otel"],
		],
		[
			"a service as a whole",
			edit("services", HUB, "5"),
			"wrong-type services.hub",
			["policy", "judge", "sums", "job"],
		],
		[
			"a benchmark",
			edit("driver", "command: go", "comand: go"),
			"unknown-key driver.benchmarks.sums.comand",
			["policy", "judge", "chain", "job", "otel"],
		],
		[
			"a benchmark's name",
			edit("driver", "sums:", '"a b":'),
			"benchmark-name driver.benchmarks.a b",
			["judge", "chain"],
		],
		[
			"every benchmark",
			edit("driver", `{sums: ${SUMS}, chain: ${CHAIN}}`, "{}"),
			"no-benchmarks driver.benchmarks",
			["policy", "judge", "job"],
		],
		[
			"the driver",
			edit("driver", "policy_model: policy", "policy_modle: policy"),
			"unknown-key driver.policy_modle",
			["judge", "sums", "job", "otel.service_name"],
		],
		["a missing driver", { ...BASE, driver: "" }, "wrong-type driver", ["judge", "job", "otel.service_name"]],
		[
			"the job",
			{ ...BASE, job: "{}" },
			"missing job.output_path",
			["policy", "judge", "hub", "sums", "otel"],
		],
		[
			"the collector",
			edit("otel", "endpoint: e", "endpont: e"),
			"unknown-key otel.endpont",
			["policy", "judge", "hub", "sums", "job"],
		],
	])("%s", (_, sections, malformed, parts) => {
		const found = findings(sections);
		expect(found[0]).toBe(`error ${malformed}`);
		expect(ALL).toEqual(expect.arrayContaining(found.slice(1)));
		for (const part of parts)
			expect(
				found.some((finding) => finding.includes(part)),
				part,
			).toBe(true);
		expect(validate(sections).config).toBeNull();
	});

	test("several parts at once", () => {
		const sections = { ...edit("services", "port: 8001", "port: x"), job: "{}", otel: "{enabled: 7}" };
		const found = findings(sections);
		expect(found.slice(0, 3)).toEqual([
			"error wrong-type services.judge.port",
			"error missing job.output_path",
			"error wrong-type otel.enabled",
		]);
		expect(ALL).toEqual(expect.arrayContaining(found.slice(3)));
		expect(found).toContain("error command-combined driver.benchmarks.sums.command");
	});
});

test("a policy that is no service at all is still told, with the malformed ones as choices", () => {
	const { problems } = validate({
		services: `{policy: ${vllm("port: x")}}`,
		driver: "{policy_model: polizy, benchmarks: {sums: {}}}",
	});
	expect(problems.map(({ code }) => code)).toEqual(["wrong-type", "policy-unknown"]);
	expect(problems[1]).toMatchObject({ remedy: 'did you mean "policy"?' });
});

test.each<[string, Sections]>([
	["compute", edit("compute", "nodes: 2", "nodes: x")],
	["all services", { ...BASE, services: "[]" }],
])("without %s nothing else is judged", (_, sections) => {
	expect(findings(sections)).toHaveLength(1);
});
