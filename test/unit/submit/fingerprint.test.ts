import { describe, expect, test } from "vitest";
import { loadSubmitYaml } from "../../../src/load/submit-yaml.ts";
import { emitYaml, toPlain } from "../../../src/submit/emit.ts";
import { benchmarkDocument, fingerprint } from "../../../src/submit/fingerprint.ts";
import { type Sections, validate } from "./document.ts";

function printOf(sections: Sections, benchmark = "sums", host = ""): string {
	const { config } = validate(sections, { hostEnv: () => host });
	return fingerprint(benchmarkDocument(config!, benchmark));
}

const services =
	"{a: {type: vllm, container: c, model: m, tensor_parallel_size: 4, env: {X: lit:1, Y: host:Y}}, hub: {type: ray, container: r}}";
const compute =
	"{lab: {type: slurm, account: a, node_pools: {p: {partition: q, gpus_per_node: 4}, o: {partition: q, gpus_per_node: 4}}}}";
const driver = "{benchmarks: {sums: {run: {x: 1, y: [1, 2]}, resumable: true}}}";
const base: Sections = {
	services: services.replace("tensor_parallel_size: 4", "node_pool: p, tensor_parallel_size: 4"),
	compute,
	driver,
};

test("it carries its version", () => {
	expect(printOf(base)).toMatch(/^1:[0-9a-f]{64}$/);
});

describe("the same job", () => {
	test("defaults left out or written out", () => {
		const { config } = validate({});
		// What the policy gives is in the resolved `run` already, so the policy is taken out to give the document again.
		const bare = validate({ driver: "{benchmarks: {sums: {run: {split: dev}}}}" }).config!;
		const { raw, problems } = loadSubmitYaml(emitYaml(bare), "resolved.yaml");
		expect(problems).toEqual([]);
		expect(raw).toEqual(toPlain(bare));
		const names = new Map([...raw].map(([key, value]) => [key, emitYaml(new Map([[key, value]]))]));
		const sections = Object.fromEntries(
			[...names].map(([key, text]) => [key, `\n${text.split("\n").slice(1).join("\n")}`]),
		);
		expect(printOf(sections as Sections)).toBe(fingerprint(benchmarkDocument(bare, "sums")));
		expect(printOf({})).toBe(fingerprint(benchmarkDocument(config!, "sums")));
	});

	test.each([
		[
			"order of env",
			{ ...base, services: base.services!.replace("X: lit:1, Y: host:Y", "Y: host:Y, X: lit:1") },
		],
		["order of run", { ...base, driver: driver.replace("x: 1, y: [1, 2]", "y: [1, 2], x: 1") }],
		["another benchmark", { ...base, driver: driver.replace("{sums:", "{more: {run: {z: 1}}, sums:") }],
		[
			"resumable spelt out",
			{ ...base, driver: driver.replace("resumable: true", "resumable: {max_retries: 3}") },
		],
		["numbers as text", { ...base, compute: compute.replace("gpus_per_node: 4", 'gpus_per_node: "4"') }],
		["a rotated secret", base, "rotated"],
	] as const)("%s", (_, sections, host: string = "") => {
		expect(printOf(sections, "sums", host)).toBe(printOf(base));
	});
});

describe("another job", () => {
	test.each([
		["another value", { ...base, driver: driver.replace("x: 1", "x: 2") }],
		["text for a number", { ...base, driver: driver.replace("x: 1", 'x: "1"') }],
		["order of a list", { ...base, driver: driver.replace("[1, 2]", "[2, 1]") }],
		["another reference", { ...base, services: base.services!.replace("host:Y", "runtime:Y") }],
		[
			"order of pools",
			{
				...base,
				compute:
					"{lab: {type: slurm, account: a, node_pools: {o: {partition: q, gpus_per_node: 4}, p: {partition: q, gpus_per_node: 4}}}}",
			},
		],
		[
			"order of services",
			{
				...base,
				services:
					"{hub: {type: ray, container: r}, a: {type: vllm, container: c, model: m, node_pool: p, tensor_parallel_size: 4, env: {X: lit:1, Y: host:Y}}}",
			},
		],
	] as const)("%s", (_, sections) => {
		expect(printOf(sections)).not.toBe(printOf(base));
	});

	test("run.services is a mapping like any other", () => {
		const run = (text: string) => ({ ...base, driver: `{benchmarks: {sums: {run: {services: ${text}}}}}` });
		expect(printOf(run("{a: 1, b: 2}"))).toBe(printOf(run("{b: 2, a: 1}")));
	});
});

test("a benchmark's document holds the others not", () => {
	const { config } = validate({ driver: "{benchmarks: {a: {run: {x: 1}}, b: {run: {x: 2}}}}" });
	const document = benchmarkDocument(config!, "b");
	const benchmarks = (document.get("driver") as Map<string, unknown>).get("benchmarks") as Map<
		string,
		unknown
	>;
	expect([...benchmarks.keys()]).toEqual(["b"]);
	expect(() => benchmarkDocument(config!, "c")).toThrow("c");
});
