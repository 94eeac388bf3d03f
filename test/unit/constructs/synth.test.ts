import { Construct } from "constructs";
import { describe, expect, test } from "vitest";
import {
	App,
	addAspect,
	Benchmark,
	Driver,
	EvalStack,
	isKind,
	LocalCompute,
	lit,
	Otel,
	RayCluster,
	SlurmCompute,
	synthApp,
	VllmPdService,
	VllmService,
} from "../../../constructs/index.ts";
import { synth } from "../../../constructs/testing/index.ts";
import { GymError } from "../../../src/errors.ts";

type Tree = ReadonlyMap<string, unknown>;

function newStack(app = new App(), id = "math"): EvalStack {
	const stack = new EvalStack(app, id, { outputPath: "/lake/evals" });
	new Otel(stack, "otel", { enabled: false });
	return stack;
}

function section(stack: EvalStack, ...path: string[]): Tree {
	const [result] = synthApp(stack.node.root);
	return path.reduce<Tree>((tree, key) => tree.get(key) as Tree, result!.raw);
}

function problems(stack: EvalStack) {
	return synthApp(stack.node.root).flatMap((result) => result.problems);
}

function thrown(action: () => unknown): GymError {
	try {
		action();
	} catch (error) {
		if (GymError.is(error)) return error;
		throw error;
	}
	throw new Error("nothing was thrown");
}

describe("names", () => {
	test("keep the order in which constructs were made, numbers too", () => {
		const stack = newStack();
		new LocalCompute(stack, "here");
		for (const id of ["10", "9", "b", "1", "a"]) new Benchmark(stack, id);
		expect([...section(stack, "driver", "benchmarks").keys()]).toEqual(["10", "9", "b", "1", "a"]);
	});

	test("of pools keep their order from a list, a Map and addPool", () => {
		const pool = { partition: "q" };
		const list = newStack();
		new SlurmCompute(list, "c", {
			account: "a",
			nodePools: [
				["10", pool],
				["9", pool],
			],
		}).addPool("1", pool);
		expect([...section(list, "compute", "c", "node_pools").keys()]).toEqual(["10", "9", "1"]);

		const map = newStack();
		const pools = new Map(["10", "9"].map((name) => [name, pool] as const));
		new SlurmCompute(map, "c", { account: "a", nodePools: pools });
		expect([...section(map, "compute", "c", "node_pools").keys()]).toEqual(["10", "9"]);
	});

	test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("%s is only a name", (id) => {
		const stack = newStack();
		new LocalCompute(stack, "here");
		new VllmService(stack, id, { model: "m", env: new Map([[id, lit("1")]]) });
		expect([...section(stack, "services").keys()]).toEqual([id]);
		expect([...(section(stack, "services").get(id) as Map<string, Tree>).get("env")!.keys()]).toEqual([id]);
	});

	test.each(["a/b", "a\nb"])("%j is refused with its place", (id) => {
		const stack = newStack();
		new LocalCompute(stack, "here");
		new Benchmark(stack, id);
		const [problem] = problems(stack);
		expect(problem).toMatchObject({ code: "id-invalid", severity: "error" });
		expect(problem!.message).toContain(JSON.stringify(id));
		expect(problem!.source!.file).toContain("synth.test.ts");
	});

	test("used twice in different scopes are an error with both paths", () => {
		const stack = newStack();
		new LocalCompute(stack, "here");
		new Benchmark(stack, "sums");
		new Benchmark(new Construct(stack, "more"), "sums");
		expect(problems(stack)).toMatchObject([
			{ code: "name-duplicate", at: "driver.benchmarks.sums", construct: "math/more/sums" },
		]);
		expect(problems(stack)[0]!.message).toContain("math/sums");
	});

	test("of two pools must differ", () => {
		const cluster = new SlurmCompute(newStack(), "c", {
			account: "a",
			nodePools: { gpu: { partition: "q" } },
		});
		const error = thrown(() => cluster.addPool("gpu", { partition: "q" }));
		expect(error.problems[0]).toMatchObject({ code: "pool-duplicate", at: "compute.c.node_pools.gpu" });
	});
});

describe("the pieces of a stack", () => {
	test("no compute is an error of the stack", () => {
		const stack = newStack();
		new Benchmark(stack, "b");
		expect(problems(stack)).toMatchObject([{ code: "compute-missing", construct: "math" }]);
		expect(problems(stack)[0]!.remedy).toContain("SlurmCompute");
	});

	test("second computes, drivers and collectors are errors of the second", () => {
		const stack = newStack();
		new LocalCompute(stack, "one");
		new SlurmCompute(stack, "two", { account: "a" });
		new Driver(stack, "d1");
		new Driver(stack, "d2");
		new Otel(stack, "otel2", { endpoint: "https://otel.example", serviceName: "evals" });
		expect(problems(stack).map(({ code, construct }) => [code, construct])).toEqual([
			["compute-duplicate", "math/two"],
			["driver-duplicate", "math/d2"],
			["otel-duplicate", "math/otel2"],
		]);
		expect([...section(stack, "compute").keys()]).toEqual(["one"]);
	});

	test("without an Otel the document has no such section", () => {
		const stack = new EvalStack(new App(), "math", { outputPath: "/lake" });
		new LocalCompute(stack, "here");
		new Benchmark(stack, "b");
		expect(synthApp(stack.node.root)[0]!.raw.has("otel")).toBe(false);
		expect(thrown(() => synth(stack)).problems.map(({ at }) => at)).toContain("otel.endpoint");
	});

	test("are found below constructs of one's own, and can be subclassed", () => {
		class Repeated extends Benchmark {
			constructor(scope: Construct, id: string, times: number) {
				super(scope, id, { run: { num_repeats: times } });
			}
		}
		class Suite extends Construct {
			constructor(scope: Construct, id: string) {
				super(scope, id);
				for (const times of [1, 4]) new Repeated(this, `sums-${times}`, times);
			}
		}
		const stack = newStack();
		new LocalCompute(stack, "here");
		new Suite(new Construct(stack, "group"), "suite");
		expect(section(stack, "driver", "benchmarks")).toEqual(
			new Map([
				["sums-1", new Map([["run", new Map([["num_repeats", 1]])]])],
				["sums-4", new Map([["run", new Map([["num_repeats", 4]])]])],
			]),
		);
	});

	test("that were removed from the tree are not in the document", () => {
		const stack = newStack();
		new LocalCompute(stack, "here");
		new Benchmark(stack, "a");
		new Benchmark(stack, "b");
		stack.node.tryRemoveChild("a");
		expect([...section(stack, "driver", "benchmarks").keys()]).toEqual(["b"]);
	});

	test("of another stack cannot be referred to", () => {
		const app = new App();
		const one = newStack(app, "one");
		const two = newStack(app, "two");
		const cluster = new SlurmCompute(one, "c", { account: "a", nodePools: { gpu: { partition: "q" } } });
		new LocalCompute(two, "here");
		const policy = new VllmService(two, "policy", { model: "m", nodePool: cluster.pool("gpu") });
		new Driver(one, "driver", { policyModel: policy });
		expect(problems(one)).toMatchObject([
			{ code: "reference-foreign", at: "driver.policy_model", construct: "one/driver" },
			{ code: "reference-foreign", at: "services.policy.node_pool", construct: "two/policy" },
		]);
	});

	test("a pool of another stack's cluster is refused wherever a pool can stand, with the line", () => {
		const app = new App();
		const cluster = new SlurmCompute(newStack(app, "far"), "c", {
			account: "a",
			nodePools: { gpu: { partition: "q" } },
		});
		const stack = newStack(app, "here");
		new SlurmCompute(stack, "c", { account: "a", nodePools: { gpu: { partition: "q" } } });
		const far = cluster.pool("gpu");
		const split = new VllmPdService(stack, "split", {
			model: "m",
			nodePool: far,
			prefill: { nodePool: far },
			decode: { nodePool: far },
		});
		const hub = new RayCluster(stack, "hub", { nodePools: [far], resources: [[far, { slots: 1 }]] });
		const found = problems(stack);
		expect(found.map(({ code, at, source }) => [code, at, source?.line])).toEqual([
			["reference-foreign", "services.split.node_pool", split.source!.line],
			["reference-foreign", "services.split.prefill.node_pool", split.source!.line],
			["reference-foreign", "services.split.decode.node_pool", split.source!.line],
			["reference-foreign", "services.hub.node_pools[0]", hub.source!.line],
			["reference-foreign", "services.hub.resources.gpu", hub.source!.line],
		]);
		expect(split.source).toMatchObject({ file: import.meta.filename, line: expect.any(Number) });
	});
});

describe("the tree", () => {
	test("without stacks, with stray pieces, nested stacks and equal names is refused as a whole", () => {
		expect(thrown(() => synthApp(new App())).problems).toMatchObject([{ code: "stack-missing" }]);

		const app = new App();
		const stack = newStack(app);
		new EvalStack(stack, "inner", { outputPath: "/x" });
		newStack(new Construct(app, "group") as App);
		newStack(app, "a b");
		new Benchmark(app, "stray");
		const { problems, exit } = thrown(() => synthApp(app));
		expect(exit).toBe("invalid");
		expect(problems.map(({ code, construct }) => [code, construct])).toEqual([
			["stack-nested", "math/inner"],
			["stack-duplicate", "group/math"],
			["stack-name", "a b"],
			["outside-stack", "stray"],
		]);
	});

	test("gives its stacks in order, each with its own problems", () => {
		const app = new App();
		for (const id of ["2", "1"]) newStack(app, id);
		new LocalCompute(app.node.findChild("1") as EvalStack, "here");
		const result = synthApp(app);
		expect(result.map(({ stack, problems }) => [stack, problems.map(({ code }) => code)])).toEqual([
			["2", ["compute-missing"]],
			["1", []],
		]);
	});

	test("shows what validations and aspects say, and what they throw", () => {
		const stack = newStack();
		new LocalCompute(stack, "here");
		const group = new Construct(stack, "group");
		group.node.addValidation({ validate: () => ["group is too small"] });
		addAspect(stack, {
			visit: (construct) =>
				isKind(construct, "benchmark") && !construct.props.resumable ? ["must be resumable"] : [],
		});
		stack.node.addValidation({
			validate: () => {
				throw new Error("broken check");
			},
		});
		new Benchmark(group, "late");
		const found = problems(stack).map(({ code, construct, message }) => [code, construct, message]);
		expect(found).toEqual([
			["aspect", "math/group/late", "must be resumable"],
			["validation", "math", "broken check"],
			["validation", "math/group", "group is too small"],
		]);
		expect(problems(stack).every(({ source }) => source?.file.endsWith("synth.test.ts"))).toBe(true);
	});

	test("can be synthesized twice with the same result", () => {
		const stack = newStack();
		new LocalCompute(stack, "here");
		new Benchmark(stack, "b");
		expect(synthApp(stack.node.root)[0]!.raw).toEqual(synthApp(stack.node.root)[0]!.raw);
	});
});

describe("values", () => {
	const withRun = (run: unknown) => {
		const stack = newStack();
		new LocalCompute(stack, "here");
		new Benchmark(stack, "b", { run: run as Record<string, string> });
		return stack;
	};

	test("that a document cannot hold are refused with their path", () => {
		const loop: { self?: unknown } = {};
		loop.self = loop;
		const cases: readonly (readonly [unknown, string])[] = [
			[{ a: new Date(0) }, ".a"],
			[{ a: [1, () => 1] }, ".a[1]"],
			[{ a: 10n }, ".a"],
			[{ a: new Map([[1, "x"]]) }, ".a"],
			[{ a: loop }, ".a.self"],
			[{ a: lit("x") }, ".a"],
			[{ a: [undefined] }, ".a[0]"],
		];
		for (const [run, at] of cases) {
			expect(problems(withRun(run))).toMatchObject([
				{ code: "value-unsupported", at: `driver.benchmarks.b.run${at}`, construct: "math/b" },
			]);
		}
	});

	test("that are undefined are left out, and one value may stand in two places", () => {
		const shared = { x: 1 };
		const run = section(withRun({ a: undefined, b: shared, c: shared }), "driver", "benchmarks", "b", "run");
		expect(run).toEqual(
			new Map([
				["b", new Map([["x", 1]])],
				["c", new Map([["x", 1]])],
			]),
		);
	});

	test("of text stay literal", () => {
		const stack = newStack();
		new LocalCompute(stack, "here");
		new VllmService(stack, "s", { model: "m", env: { PW: lit("Dfw%$#${*(d}@E") } });
		new Benchmark(stack, "b", { run: { dir: "${oc.env:HOME}/x" } });
		const { config, yaml } = synth(stack);
		expect(config.services.get("s")!.env.get("PW")).toBe("lit:Dfw%$#${*(d}@E");
		expect(config.driver.benchmarks.get("b")!.run.get("dir")).toBe("${oc.env:HOME}/x");
		expect(yaml).toContain("\\${oc.env:HOME}/x".replace("\\", "\\\\"));
	});
});

describe("slips", () => {
	test("in a prop's name reach validation, with the construct", () => {
		const stack = newStack();
		new LocalCompute(stack, "here");
		const slip = { tensorParalellSize: 2 };
		new VllmService(stack, "policy", { model: "m", ...slip });
		new Benchmark(stack, "b");
		const [problem] = thrown(() => synth(stack)).problems;
		expect(problem).toMatchObject({
			at: "services.policy.tensor_paralell_size",
			construct: "math/policy",
			remedy: 'did you mean "tensor_parallel_size"?',
		});
		expect(problem!.source!.file).toContain("synth.test.ts");
	});

	test("in a computed pool name are found by validation", () => {
		const stack = newStack();
		const names: readonly string[] = ["gpu"];
		const pools = Object.fromEntries(names.map((name) => [name, { partition: "q" }]));
		const cluster = new SlurmCompute(stack, "c", { account: "a", nodePools: pools });
		new VllmService(stack, "policy", { container: "c", model: "m", nodePool: cluster.pool("gpus") });
		new Benchmark(stack, "b");
		const found = thrown(() => synth(stack)).problems.filter(({ severity }) => severity === "error");
		expect(found).toMatchObject([{ at: "services.policy.node_pool", construct: "math/policy" }]);
	});
});
