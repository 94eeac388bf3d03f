import { describe, expect, test } from "vitest";
import { loadSubmitYaml } from "../../../src/load/submit-yaml.ts";
import type { Value } from "../../../src/submit/config.ts";
import { emitYaml, toPlain } from "../../../src/submit/emit.ts";
import { float } from "../../../src/submit/float.ts";
import { validate } from "./document.ts";

const emit = (value: Value) => emitYaml(new Map([["k", value]]));

describe("values as text", () => {
	test.each([
		["12:30:00", 'k: "12:30:00"\n'],
		["yes", 'k: "yes"\n'],
		["a\tb\n", 'k: "a\\tb\\n"\n'],
		["\u0085\u2028\ufeff\x7f", 'k: "\\u0085\\u2028\\ufeff\\u007f"\n'],
		["né 🙂", 'k: "né 🙂"\n'],
		["${a}", 'k: "\\\\${a}"\n'],
		["\\${a}", 'k: "\\\\\\\\\\\\${a}"\n'],
		["\\a", 'k: "\\\\a"\n'],
		[null, "k: null\n"],
		[true, "k: true\n"],
		[3, "k: 3\n"],
		[float(3), "k: 3.0\n"],
		[[float(-1), 1], "k:\n  - -1.0\n  - 1\n"],
		[1e21, "k: 1.0e+21\n"],
		[5e-7, "k: 5.0e-7\n"],
		[1.5e-7, "k: 1.5e-7\n"],
		[-0, "k: -0.0\n"],
		[Number.NEGATIVE_INFINITY, "k: -.inf\n"],
		[Number.NaN, "k: .nan\n"],
		[[], "k: []\n"],
		[new Map(), "k: {}\n"],
	] as const)("%j", (value, text) => expect(emit(value as Value)).toBe(text));

	test("lists and mappings nest", () => {
		const nested = [
			new Map<string, Value>([
				["a", 1],
				["b", [2, [3, new Map()]]],
			]),
			[],
		];
		expect(emit(nested)).toBe("k:\n  - a: 1\n    b:\n      - 2\n      - - 3\n        - {}\n  - []\n");
		expect(emitYaml(new Map())).toBe("{}\n");
	});
});

describe("keys", () => {
	test("that a reader would type are quoted, in their order", () => {
		const keys = ["b", "10", "9", "on", "Null", "a.b", "x y", "", "-", "=", "é"];
		const text = emitYaml(new Map(keys.map((key) => [key, 1])));
		expect(text).toBe(
			'b: 1\n"10": 1\n"9": 1\n"on": 1\n"Null": 1\n"a.b": 1\n"x y": 1\n"": 1\n"-": 1\n"=": 1\n"é": 1\n',
		);
	});

	test("a merge key cannot be written", () => {
		expect(() => emit(new Map([["<<", 1]]))).toThrow("merge-key");
	});
});

test("a document comes back from its text as it was", () => {
	const { config } = validate(
		{
			driver:
				'{policy_model: policy, policy_host: "\\\\${oc.env:HEAD_NODE_IP}", benchmarks: {sums: {run: {a: [1.5, "x"]}}}, env: {A: host:A}}',
		},
		{ hostEnv: () => "s3cret" },
	);
	const text = emitYaml(config!);
	expect(text).not.toContain("s3cret");
	expect(text).toContain('policy_host: "\\\\${oc.env:HEAD_NODE_IP}"');
	const { raw, problems } = loadSubmitYaml(text, "x");
	expect(problems).toEqual([]);
	expect(raw).toEqual(toPlain(config!));
});
