import { describe, expect, test } from "vitest";
import { checkPools } from "../../../src/submit/rules/pools.ts";
import {
	driver,
	findings,
	gpu,
	noPolicy,
	pdPools,
	pools,
	services,
	slurm,
	validate,
	vllm,
} from "./document.ts";

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

describe("chains and durations", () => {
	const chain = (resumable: string) => ({
		driver: `{policy_model: policy, benchmarks: {sums: {run: {x: 1}, resumable: ${resumable}}}}`,
	});
	const at = "driver.benchmarks.sums.resumable";

	test("no cap is warned of", () => {
		expect(findings(chain("true"))).toEqual([`warning no-walltime-cap ${at}`]);
		expect(findings(chain("{max_retries: 1}"))).toEqual([`warning no-walltime-cap ${at}`]);
		expect(findings(chain("{max_walltime: UNLIMITED}"))).toEqual([`warning no-walltime-cap ${at}`]);
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
