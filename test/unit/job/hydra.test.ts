import { describe, expect, test } from "vitest";
import { hydraProblems, hydraTokens, hydraValue } from "../../../src/job/hydra.ts";
import type { Value } from "../../../src/submit/config.ts";
import { float } from "../../../src/submit/float.ts";
import { map } from "./document.ts";

const tokens = (entries: object) => hydraTokens(map(entries) as ReadonlyMap<string, Value>, { prefix: "+" });
const refused = (entries: object) =>
	hydraProblems(map(entries) as ReadonlyMap<string, Value>, "run").map(({ at }) => at);

describe("values", () => {
	test.each<[Value, string]>([
		[null, "null"],
		[true, "true"],
		[12, "12"],
		[float(12), "12.0"],
		[[map({ k: float(0) }), 0] as Value, "[{k: 0.0},0]"],
		[-0, "-0.0"],
		[1e21, "1e+21"],
		["dev", "dev"],
		["null", '"null"'],
		["True", '"True"'],
		["nan", '"nan"'],
		["007", '"007"'],
		["", '""'],
		["a,b", '"a,b"'],
		['say "so"', '"say \\"so\\""'],
		["ends in \\", '"ends in \\\\"'],
		["a\\b", '"a\\b"'],
		['\\"', '"\\\\\\""'],
		[["a", null, "1"], '[a,null,"1"]'],
		[[], "[]"],
		[map({ "x.y": 1, k: "v w" }) as Value, '{x.y: 1, k: "v w"}'],
	])("%j", (value, text) => expect(hydraValue(value)).toBe(text));
});

describe("keys", () => {
	test("nested mappings become dotted paths", () => {
		expect(tokens({ a: map({ b: map({ "0": 1 }), c: "x" }), d: 2 })).toEqual(["+a.b.0=1", "+a.c=x", "+d=2"]);
	});

	test("a mapping with a key that no path can hold is written whole", () => {
		expect(tokens({ a: map({ "b.c": 1, d: map({ e: 2 }) }) })).toEqual(["+a={b.c: 1, d: {e: 2}}"]);
	});

	test("an empty mapping stays one", () => expect(tokens({ a: map({}) })).toEqual(["+a={}"]));

	test.each([
		[{ "a.b": 1 }, "run.a.b"],
		[{ "12": 1 }, "run.12"],
		[{ "": 1 }, "run."],
		[{ a: map({ "b.c": 1, "12": 2 }) }, "run.a.12"],
		[{ a: [map({ true: 1 })] }, "run.a[0].true"],
		[{ a: [map({ "it's": 1 })] }, "run.a[0].it's"],
	])("%j is refused at %s", (entries, at) => expect(refused(entries)).toEqual([at]));

	test("what can be written is not refused", () => {
		expect(refused({ a: map({ "b.c": [1, map({ "d e": 1 })] }), "x-y": 1 })).toEqual([]);
	});
});
