import { describe, expect, test } from "vitest";
import { hydraTokens } from "../../../src/job/hydra.ts";
import { loadSubmitYaml } from "../../../src/load/submit-yaml.ts";
import type { Value } from "../../../src/submit/config.ts";
import { emitYaml, toPlain } from "../../../src/submit/emit.ts";
import { benchmarkDocument, fingerprint } from "../../../src/submit/fingerprint.ts";
import { float, isFloat } from "../../../src/submit/float.ts";
import { findings, slurm, validate, vllm } from "./document.ts";

const run = (fields: string) => {
	const { config, problems } = validate({
		services: "{}",
		driver: `{policy_model: null, benchmarks: {sums: {run: {${fields}}}}}`,
	});
	if (!config) throw new Error(JSON.stringify(problems));
	return config;
};
const runOf = (fields: string) => run(fields).driver.benchmarks.get("sums")!.run;

describe("only what a number cannot say is a Float", () => {
	test.each([1, 0, -3, 1000, 2 ** 60])("%s is one", (value) => {
		expect(isFloat(float(value))).toBe(true);
		expect(String(float(value))).toBe(`${value}.0`);
	});

	test.each([0.5, -0, 1e21, Number.POSITIVE_INFINITY, Number.NaN])("%s is a float by its text", (value) => {
		expect(float(value)).toBe(value);
	});

	test("one of a second copy of the package is one", () => {
		expect(isFloat({ [Symbol.for("gymfile.float")]: true, value: 1 })).toBe(true);
		expect(isFloat({ value: 1 })).toBe(false);
		expect(isFloat(null)).toBe(false);
	});
});

describe("a float of run stays one", () => {
	test.each([
		["a: 1.0", "+a=1.0"],
		["a: 1", "+a=1"],
		["a: 1e3", "+a=1000.0"],
		["a: -0.0", "+a=-0.0"],
		["a: .inf", "+a=inf"],
		["a: .nan", "+a=nan"],
		["a: 0.5", "+a=0.5"],
		["a: [1.0, 2, {b: 3.0}]", "+a=[1.0,2,{b: 3.0}]"],
		["a: {b: {c: 0.0}}", "+a.b.c=0.0"],
	])("%s as an override", (fields, token) =>
		expect(hydraTokens(runOf(fields), { prefix: "+" })).toEqual([token]),
	);

	test("in the resolved document, which reads back as it was", () => {
		const config = run("a: 1.0, b: [2.0, 2], c: {d: -3.0}, e: 1");
		const text = emitYaml(config);
		expect(text).toMatch(/a: 1\.0\n.*b:\n.*- 2\.0\n.*- 2\n.*c:\n.*d: -3\.0\n.*e: 1\n/);
		expect(loadSubmitYaml(text, "x").raw).toEqual(toPlain(config));
	});

	test("and is another job than the integer", () => {
		const print = (fields: string) => fingerprint(benchmarkDocument(run(fields), "sums"));
		expect(print("a: 1.0")).not.toBe(print("a: 1"));
		expect(print("a: [1.0]")).not.toBe(print("a: [1]"));
		expect(print("a: 1.0")).toBe(print("a: 1.00"));
		expect(print("a: 1.0")).not.toBe(print('a: "1.0"'));
	});
});

describe("elsewhere in the document", () => {
	test("a whole float is a whole number", () => {
		const { config } = validate({
			services: `{policy: ${vllm("tensor_parallel_size: 4.0, port: 8e3, trust_remote_code: 1.0")}}`,
		});
		expect(config!.services.get("policy")).toMatchObject({
			tensor_parallel_size: 4,
			port: 8000,
			trust_remote_code: true,
		});
	});

	test("a directive has its text", () => {
		const { config } = validate({
			compute: slurm("extra_args: {x: 1.0, exclusive: true}"),
			services: "{}",
			driver: "{policy_model: null, benchmarks: {a: {}}}",
		});
		const [compute] = config!.compute.values();
		expect(compute).toMatchObject({
			extra_args: new Map<string, Value>([
				["x", "1.0"],
				["exclusive", true],
			]),
		});
	});

	test.each([
		[{ compute: slurm("walltime: 90.0") }, "walltime"],
		[{ driver: "1.0" }, "driver"],
		[{ services: "{policy: 2.0}" }, "services.policy"],
		[{ services: `{policy: ${vllm("model: 3.0").replace("model: m, ", "")}}` }, "services.policy.model"],
		[{ services: `{policy: ${vllm("mounts: 4.0")}}` }, "services.policy.mounts"],
	])("%j: refused as the number that it is", (sections, at) => {
		const { problems } = validate(sections);
		const problem = problems.find((one) => one.at.endsWith(at))!;
		expect(problem).toMatchObject({ code: "wrong-type" });
		expect(problem.message).toMatch(/found the number \d/);
	});

	test("of the wrong kind, it is told with its point", () => {
		const { problems } = validate({ services: `{policy: ${vllm("served_model_name: 3.0")}}` });
		expect(problems[0]).toMatchObject({
			message: "expected text, found the number 3.0",
			remedy: "put it in quotes",
		});
		expect(findings({ services: "{policy: {type: 1.0}}" })).toContain(
			"error unknown-type services.policy.type",
		);
	});
});
