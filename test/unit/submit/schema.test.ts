import { describe, expect, test } from "vitest";
import type { VllmConfig } from "../../../src/submit/config.ts";
import { validateDocument } from "../../../src/submit/validate.ts";
import { findings, validate } from "./document.ts";

const service = (fields: string) => ({
	services: `{policy: {type: vllm, container: c, model: m, tensor_parallel_size: 4, ${fields}}}`,
});
const policy = (fields: string) => validate(service(fields)).config?.services.get("policy") as VllmConfig;
const compute = (fields: string) => ({
	compute: `{lab: {type: slurm, account: a, node_pools: {gpu: {partition: p, gpus_per_node: 4}}, ${fields}}}`,
});
const driver = (fields: string) => ({ driver: `{benchmarks: {sums: {run: {x: 1}}}, ${fields}}` });
const benchmark = (fields: string) => ({ driver: `{benchmarks: {sums: {${fields}}}}` });

describe("numbers and switches", () => {
	test.each([
		['port: "8001"', 8001],
		['port: " 8_001.0 "', 8001],
		["port: 8001.0", 8001],
		["port: 8_001", 8001],
	])("%s is a port", (fields, port) => expect(policy(fields).port).toBe(port));

	test.each(["high", '"0x1F41"', '""', "true", "8000.5", "[1]", "null", '"8e3"'])(
		"port: %s is none",
		(value) => {
			expect(findings(service(`port: ${value}`))).toEqual(["error wrong-type services.policy.port"]);
		},
	);

	test.each(["0", "-1", "65536", '"65536"'])("port: %s is out of range", (value) => {
		expect(findings(service(`port: ${value}`))).toEqual(["error out-of-range services.policy.port"]);
	});

	test.each(["true", '"yes"', "on", '"T"', "1", '"1"', "1.0"])("trust_remote_code: %s is true", (value) => {
		expect(policy(`trust_remote_code: ${value}`).trust_remote_code).toBe(true);
	});

	test.each(["false", '"No"', "off", "0"])("trust_remote_code: %s is false", (value) => {
		expect(policy(`trust_remote_code: ${value}`).trust_remote_code).toBe(false);
	});

	test.each(["maybe", "2", '" true"', "[]", "null"])("trust_remote_code: %s is refused", (value) => {
		const found = findings(service(`trust_remote_code: ${value}`));
		expect(found).toEqual(["error wrong-type services.policy.trust_remote_code"]);
	});

	test.each([
		["pipeline_parallel_size: 0", "pipeline_parallel_size"],
		["number_of_instances: 0", "number_of_instances"],
		["health_check: {timeout_seconds: 0}", "health_check.timeout_seconds"],
		["pipeline_parallel_size: 65534", "pipeline_parallel_size"],
		["number_of_instances: 99999999999", "number_of_instances"],
		["health_check: {timeout_seconds: 2147483648}", "health_check.timeout_seconds"],
	])("%s is out of range", (fields, path) => {
		expect(findings(service(fields))).toEqual([`error out-of-range services.policy.${path}`]);
	});

	test.each(["nodes", "ntasks_per_node", "gpus_per_node"])("%s beyond what Slurm can count", (field) => {
		const pool = (value: number) =>
			findings({
				compute: `{lab: {type: slurm, account: a, node_pools: {gpu: {partition: p, ${field}: ${value}}}}}`,
			});
		const refused = [`error out-of-range compute.lab.node_pools.gpu.${field}`];
		expect(pool(65_533)).not.toContain(refused[0]);
		expect(pool(65_534)).toEqual(refused);
		expect(pool(99_999_999_999)).toEqual(refused);
	});

	test("retries may be none, not fewer", () => {
		const at = "driver.benchmarks.sums.resumable.max_retries";
		const chain = (retries: number) => benchmark(`resumable: {max_retries: ${retries}, max_walltime: 1-0}`);
		expect(findings(chain(0))).toEqual([]);
		expect(findings(chain(-1))).toEqual([`error out-of-range ${at}`]);
	});
});

describe("text", () => {
	test("a number is not text, and the remedy is quotes", () => {
		const { problems } = validate(driver("gym_install: {ref: 1234e56}"));
		expect(problems).toMatchObject([
			{ code: "wrong-type", at: "driver.gym_install.ref", remedy: "put it in quotes", severity: "error" },
		]);
	});

	test.each(["'0755'", "0755", "'0o17'", "0o17", "'1234e56'", "abc123"])("the ref %s is its text", (ref) => {
		const { config } = validate(driver(`gym_install: {ref: ${ref}}`));
		expect(config?.driver.gym_install?.ref).toBe(ref.replaceAll("'", ""));
	});

	test.each(['account: "a\\nb"', 'account: "\\e[31m"', 'account: ""', 'account: " "'])(
		"%s is refused",
		(field) => {
			expect(findings({ compute: `{lab: {type: slurm, ${field}}}` })).toEqual([
				expect.stringMatching(/^error (line-break|empty) compute\.lab\.account$/),
			]);
		},
	);

	test("a host name is never an option of ssh", () => {
		expect(findings(compute("hostname: -oProxyCommand=x"))).toEqual([
			"error bad-hostname compute.lab.hostname",
		]);
	});
});

describe("durations", () => {
	test.each([
		["90", "90"],
		["12:30:00", "12:30:00"],
		["2-04:00:00", "2-04:00:00"],
		['"1-02"', "1-02"],
	])("walltime: %s", (written, walltime) => {
		expect(validate(compute(`walltime: ${written}`)).config?.compute.get("lab")?.walltime).toBe(walltime);
	});

	test.each(["soon", "1:2:3:4", "1.5", "-5", "0", "00:00", "2-", "true", "1d"])(
		"walltime: %s is refused",
		(value) => {
			expect(findings(compute(`walltime: ${value}`))).toEqual([
				expect.stringMatching(/^error (bad-duration|wrong-type) compute\.lab\.walltime$/),
			]);
		},
	);
});

describe("keys", () => {
	test("an unknown one is shown where it stands, with the nearest", () => {
		const { problems } = validate(service("tensor_paralell_size: 2"));
		expect(problems).toMatchObject([
			{
				code: "unknown-key",
				at: "services.policy.tensor_paralell_size",
				remedy: 'did you mean "tensor_parallel_size"?',
				source: { file: "submit.yaml", line: 1 },
			},
		]);
	});

	test("typo help knows the kind of service", () => {
		const { problems } = validate(service("prefil: 1, nod_pool: x, zzzzzzzz: 1"));
		expect(problems.map(({ at, remedy }) => [at.split(".").at(-1), remedy])).toEqual([
			["prefil", undefined],
			["nod_pool", 'did you mean "node_pool"?'],
			["zzzzzzzz", undefined],
		]);
	});

	test("a name such as __proto__ is only a name", () => {
		const { config } = validate({
			services: "{__proto__: {type: vllm, container: c, model: m, tensor_parallel_size: 4}}",
			driver:
				"{policy_model: __proto__, benchmarks: {constructor: {run: {__proto__: 1, hasOwnProperty: 2}}}}",
		});
		expect([...config!.services.keys()]).toEqual(["__proto__"]);
		expect(config!.driver.benchmarks.get("constructor")!.run.get("__proto__")).toBe(1);
		expect(findings(service("__proto__: 1"))).toEqual(["error unknown-key services.policy.__proto__"]);
	});

	test("every problem of form is found at once", () => {
		const found = findings({
			services: "{a: {type: vllm, port: x, extra: 1}, b: {type: llm}, c: {}, d: 5}",
			driver: "{benchmarks: {sums: {}}}",
			job: "{}",
		});
		expect(found).toEqual([
			"error missing services.a.container",
			"error missing services.a.model",
			"error wrong-type services.a.port",
			"error unknown-key services.a.extra",
			"error unknown-type services.b.type",
			"error missing services.c.type",
			"error wrong-type services.d",
			"error missing job.output_path",
		]);
	});

	test("choices are listed", () => {
		const { problems } = validate({ services: "{a: {type: vlm}}" });
		expect(problems[0]).toMatchObject({ code: "unknown-type", remedy: 'did you mean "vllm"?' });
		expect(problems[0]!.message).toContain("vllm, vllm_pd, ray");
	});

	test.each([null, undefined, 5, "x", [], new Map()])(
		"a document that is %s is refused, not a crash",
		(raw) => {
			const { config, problems } = validateDocument(raw, { hostEnv: () => undefined, missingHost: "error" });
			expect(config).toBeNull();
			expect(problems.length).toBeGreaterThan(0);
		},
	);
});

describe("benchmarks", () => {
	const files = ["gym-job.json", "submit.lock", "submit.ids", "submit.ids.new", "submitted-at"];
	test.each([".", "..", "a b", "a/b", '"a\\n"', ...files, "é", '""', "x".repeat(201)])(
		"the name %s is refused",
		(name) => {
			const { config, problems } = validate({ driver: `{benchmarks: {${name}: {run: {x: 1}}}}` });
			expect(config).toBeNull();
			expect(problems.map(({ code }) => code)).toEqual(["benchmark-name"]);
		},
	);

	test("there is at least one", () => {
		expect(findings({ driver: "{benchmarks: {}}" })).toEqual(["error no-benchmarks driver.benchmarks"]);
	});

	test.each(["null", "maybe", "[]"])("resumable: %s is neither a switch nor settings", (value) => {
		const { problems } = validate(benchmark(`run: {x: 1}, resumable: ${value}`));
		expect(problems).toMatchObject([{ code: "wrong-type", at: "driver.benchmarks.sums.resumable" }]);
		expect(problems[0]!.message).toContain("true or false or a mapping");
	});

	test("an empty command is refused", () => {
		expect(findings(benchmark('command: " "'))).toEqual(["error empty driver.benchmarks.sums.command"]);
	});
});

describe("env", () => {
	const envOf = (value: string) => service(`env: {${value}}`);

	test.each([
		"A: plain-s3cret",
		"A: s3cret:x",
		'A: "host:s3 cret"',
		"A: 53331",
		"A: [s3cret]",
		"A: {s3cret: 1}",
	])("%s is refused without showing the value", (entry) => {
		const { problems } = validate(envOf(entry));
		expect(problems).toMatchObject([{ severity: "error", at: "services.policy.env.A" }]);
		expect(JSON.stringify(problems)).not.toMatch(/s3|5333/);
	});

	test.each(["BAD-KEY", "1A", '""', '"A B"'])("the name %s is refused", (name) => {
		expect(validate(envOf(`${name}: "lit:1"`)).problems).toMatchObject([{ code: "variable-name" }]);
	});
});

describe("mounts", () => {
	test.each(["/a", "/a:/b", "/a:/b:ro", "/a b:/c:ro+rprivate"])("%s", (mount) => {
		expect(validate(service(`mounts: ["${mount}"]`)).config).not.toBeNull();
	});

	test.each([
		["~/a", "mount-not-expanded"],
		["/a/$USER:/b", "mount-not-expanded"],
		["/a,/b", "mount-separator"],
		["/a\\n", "mount-separator"],
		["a:/b", "bad-mount"],
		["/a:b", "bad-mount"],
		["/a:", "bad-mount"],
		["/a:/b:ro:x", "bad-mount"],
		["", "bad-mount"],
	])("%j is refused", (mount, code) => {
		expect(findings(service(`mounts: [/ok, "${mount}"]`))).toEqual([
			`error ${code} services.policy.mounts[1]`,
		]);
	});
});

test("defaults are the reference's", () => {
	expect(policy("")).toMatchObject({
		port: 8000,
		placement: "lab",
		health_check: { path: "/health", port: 8000, timeout_seconds: 60 },
		data_parallel_rpc_port: 13345,
		use_ray_serve: false,
		pre_command: "",
	});
});

test("a local compute needs no containers", () => {
	const sections = {
		services: "{policy: {type: vllm, model: m}, judge: {type: vllm, model: j, port: 8100, container: c}}",
		compute: "{here: {type: local, walltime: 1:00:00, env: {A: lit:1}}}",
		job: "{output_path: runs}",
	};
	expect(findings(sections)).toEqual(["note container-ignored services.judge.container"]);
	expect(findings({ services: sections.services })[0]).toBe("error missing services.policy.container");
});
