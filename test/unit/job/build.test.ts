import { describe, expect, test } from "vitest";
import { stepNames } from "../../../src/job/names.ts";
import { built, errors, job, map } from "./document.ts";

const pool = (fields: object = {}) => map({ partition: "batch", gpus_per_node: 4, ...fields });

test("several instances on one node are its data parallelism", () => {
	const two = job({ service: { number_of_instances: 2, tensor_parallel_size: 2 } });
	expect(two.services[0]!.script).toContain("--data-parallel-size 2");
});

describe("refused when the job is made", () => {
	test.each([
		["services.speaker.env.UID env-name-reserved", { service: { env: map({ UID: "lit:1" }) } }],
		[
			"services.duo.decode.env.UID env-name-reserved",
			{
				services: map({
					duo: map({
						...{ type: "vllm_pd", container: "pd:1", model: "acme/duo" },
						prefill: map({ node_pool: "pre" }),
						decode: map({ node_pool: "dec", env: map({ UID: "lit:1" }) }),
					}),
				}),
				pools: map({ pre: pool(), dec: pool() }),
			},
		],
		["driver.env.GYM_E0 env-name-reserved", { driver: { env: map({ GYM_E0: "lit:1" }) } }],
		["services.speaker.extra_args extra-args-unclosed-quote", { service: { extra_args: "--x '{" } }],
		["services.speaker.extra_args extra-args-line-break", { service: { extra_args: "--x 1\n--y 2" } }],
		["driver.benchmarks.sums.run.a.b hydra-key", { benchmark: { run: map({ "a.b": 1 }) } }],
		[
			"driver.gym_install.ref gym-install-option",
			{ driver: { gym_install: map({ ref: "--upload-pack=x" }) } },
		],
		["job.output_path output-path-character", { outputPath: "/lake/a,b" }],
		["job.output_path output-path-character", { outputPath: "/lake/it's" }],
		["compute.north.extra_args.account directive-twice", { compute: { extra_args: map({ account: "b" }) } }],
		[
			"compute.north.node_pools.front.extra_args.qos directive-twice",
			{
				compute: { extra_args: map({ qos: "low" }) },
				pools: map({ front: pool({ extra_args: map({ qos: "high" }) }) }),
			},
		],
		[
			"compute.north.extra_args.job-name directive-long",
			{ compute: { extra_args: map({ "job-name": "x".repeat(1025) }) } },
		],
		["driver step-long", { benchmark: { run: map({ x: "x".repeat(130_000) }) } }],
		[
			"driver.benchmarks.sums.command command-long",
			{ benchmark: { command: `: ${"é".repeat(2 * 1024 * 1024)}` } },
		],
	])("%s", (expected, parts) => {
		const result = built(parts);
		expect(errors(result)).toEqual([expected]);
		expect(result.job).toBeNull();
	});

	test("all problems come at once", () => {
		const result = built({ outputPath: "/a:b", service: { extra_args: "'", env: map({ UID: "lit:1" }) } });
		expect(errors(result)).toHaveLength(3);
	});

	test("pools that disagree name the pool", () => {
		const pools = new Map([
			["front", pool()],
			["back", pool({ partition: "other" })],
		]);
		expect(errors(built({ pools, service: { node_pool: "front" } }))[0]).toMatch(
			/^compute\.north\.node_pools\.back/,
		);
	});
});

test("a command that is too long is told its size and the limit", () => {
	const [problem] = built({ benchmark: { command: "x".repeat(5 * 1024 * 1024) } }).problems;
	expect(problem!.message).toMatch(/5242880 bytes.*4194304.*4 MiB/);
});

describe("the warning before the time limit", () => {
	const signal = (walltime: string | null) =>
		job({ compute: { walltime } }).directives.find(({ key }) => key === "signal")?.value;

	test.each([
		[null, "B:USR1@120"],
		["UNLIMITED", "B:USR1@120"],
		["04:00:00", "B:USR1@120"],
		["5", "B:USR1@50"],
		["1", undefined],
	])("of %s is %s", (walltime, value) => expect(signal(walltime)).toBe(value));

	test("an unlimited walltime is asked for as it is written", () => {
		const time = job({ compute: { walltime: "infinite" } }).directives.find(({ key }) => key === "time");
		expect(time?.value).toBe("infinite");
	});
});

describe("a shell word of extra_args", () => {
	test("may hold line breaks in quotes, and a line may go on after a backslash", () => {
		expect(job({ service: { extra_args: "--json '{\n}' \\\n--y 2" } }).services[0]!.script).toContain(
			"--json '{\n}' \\\n--y 2",
		);
	});
});

describe("the driver", () => {
	const args = (parts: Parameters<typeof job>[0]) => {
		const { program } = job(parts).driver;
		return program.kind === "gym"
			? program.args.map((arg) => (typeof arg === "string" ? arg : `${arg.before}<${arg.below}>`))
			: null;
	};

	test("gets the defaults that run does not set, and no key twice", () => {
		const run = map({
			require_complete: false,
			output_jsonl_fpath: "/x.jsonl",
			observability_enabled: false,
		});
		const given = args({ benchmark: { run } })!;
		expect(given.filter((arg) => /require_complete|output_jsonl|observ|capture/.test(arg))).toEqual([
			"+require_complete=false",
			'+output_jsonl_fpath="/x.jsonl"',
			"+observability_enabled=false",
		]);
	});

	test("is told the model type only with a policy and a type", () => {
		expect(args({})).toContain("--model-type");
		expect(args({ driver: { policy_model_type: "" } })).not.toContain("--model-type");
		expect(args({ driver: { policy_model: null } })).not.toContain("--model-type");
	});

	test("runs on the first node of the policy's pool", () => {
		const pools = new Map([
			["front", pool({ nodes: 2 })],
			["back", pool()],
		]);
		const pinned = job({ pools, service: { node_pool: "back" } });
		expect(pinned.driver.hosts).toEqual({ first: 2, count: 1 });
		expect(pinned.services[0]!.health).toMatchObject({ node: 2, port: 8000, path: "/health", timeout: 60 });
	});
});

describe("step names", () => {
	test("are safe and unique", () => {
		const named = stepNames(["a b", "a_b", "A.b", "My.Judge-v2", "9", "§", "slurm"]);
		expect(named.map(({ id }) => id)).toEqual(["a_b", "a_b_2", "A.b", "My.Judge-v2", "9", "_", "slurm_2"]);
		expect(named.map(({ word }) => word)).toEqual([
			"a_b",
			"a_b_2",
			"a_b_3",
			"my_judge_v2",
			"9",
			"service",
			"slurm_2",
		]);
	});
});
