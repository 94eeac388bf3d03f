import fc from "fast-check";
import { expect, test } from "vitest";
import {
	App,
	Benchmark,
	EvalStack,
	float,
	LocalCompute,
	lit,
	Otel,
	VllmService,
} from "../../constructs/index.ts";
import { synth } from "../../constructs/testing/index.ts";
import type { Value } from "../../src/submit/config.ts";

function newStack(): EvalStack {
	const stack = new EvalStack(new App(), "s", { outputPath: "/x" });
	new LocalCompute(stack, "here");
	new Otel(stack, "otel", { enabled: false });
	return stack;
}

const scalar = fc.oneof(
	fc.constant(null),
	fc.boolean(),
	fc.double({ noNaN: true, noDefaultInfinity: true }),
	fc.integer().map(float),
	fc.string({ unit: "grapheme" }),
);

/** A value of `run` as a `Map` tree. */
const { value } = fc.letrec<{ value: Value }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 3 },
		scalar,
		fc.array(tie("value"), { maxLength: 4 }),
		fc.array(fc.tuple(fc.string(), tie("value")), { maxLength: 4 }).map((entries) => new Map(entries)),
	),
}));

/** The same value written with object literals, where an object can say it: not with the key `__proto__`. */
function asObjects(tree: Value): unknown {
	if (Array.isArray(tree)) return tree.map(asObjects);
	if (!(tree instanceof Map)) return tree;
	const entries = [...tree].map(([key, item]) => [key, asObjects(item)] as const);
	return tree.has("__proto__") ? new Map(entries) : Object.fromEntries(entries);
}

test("what run says is what the validated document says, written with Maps or with objects", () => {
	fc.assert(
		fc.property(value, (given) => {
			const stack = newStack();
			new Benchmark(stack, "maps", { run: new Map([["v", given]]) });
			new Benchmark(stack, "objects", { run: { v: asObjects(given) as string } });
			const { benchmarks } = synth(stack).config.driver;
			expect(benchmarks.get("maps")!.run.get("v")).toEqual(given);
			expect(benchmarks.get("objects")!.run.get("v")).toEqual(given);
		}),
	);
});

test("names keep their order, and literal env values every character", () => {
	const id = fc.oneof(fc.stringMatching(/^[A-Za-z][A-Za-z0-9]{0,8}$/), fc.nat({ max: 99 }).map(String));
	const ids = fc.uniqueArray(fc.oneof(id, fc.constantFrom("constructor", "valueOf")), {
		minLength: 1,
		maxLength: 8,
	});
	fc.assert(
		fc.property(ids, fc.string({ unit: "grapheme" }), (names, text) => {
			const stack = newStack();
			for (const name of names) new Benchmark(stack, name);
			const safe = text.replaceAll("\0", "");
			new VllmService(stack, "svc", { model: "m", env: { A: lit(safe) } });
			const { config } = synth(stack);
			expect([...config.driver.benchmarks.keys()]).toEqual(names);
			expect(config.services.get("svc")!.env.get("A")).toBe(`lit:${safe}`);
		}),
	);
});
