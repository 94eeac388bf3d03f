import { describe, expect, test } from "vitest";
import { loadSubmitYaml } from "../../../src/load/submit-yaml.ts";
import { float } from "../../../src/submit/float.ts";

const load = (text: string) => loadSubmitYaml(text, "submit.yaml");
const value = (text: string) => {
	const { raw, problems } = load(`k: ${text}\n`);
	expect(problems).toEqual([]);
	return raw.get("k");
};

describe("plain scalars mean what they mean to the peer", () => {
	test.each([
		["yes", true],
		["Off", false],
		["TRUE", true],
		["y", "y"],
		["tRue", "tRue"],
		["~", null],
		["", null],
		["Null", null],
		["12", 12],
		["+12", 12],
		["-0", 0],
		["1_000", 1000],
		["0x1F", 31],
		["-0x1F", -31],
		["0b101", 5],
		["1.5", 1.5],
		[".5", 0.5],
		["-1_0.5e-1", -1.05],
		[".inf", Number.POSITIVE_INFINITY],
		["-.Inf", Number.NEGATIVE_INFINITY],
		[".NAN", Number.NaN],
		["2024-01-15", "2024-01-15"],
		["1.2.3", "1.2.3"],
		["_1", "_1"],
		["-0.0", -0],
		["1e21", 1e21],
	])("%s", (text, expected) => expect(value(text)).toBe(expected));

	test.each([
		["1.0", 1],
		["1.", 1],
		["-2.00", -2],
		["0.0", 0],
		["1e3", 1000],
		["1.e3", 1000],
		["1_0.0", 10],
		["!!float 12", 12],
	])("%s is a float, though whole", (text, expected) => {
		expect(value(text)).toEqual(float(expected));
		expect(value(text)).not.toEqual(expected);
	});

	test.each(["12:30:00", "1:30", "0755", "0o17", "007", "=", "1e", "0x", "--", "1 2"])(
		"%s is text",
		(text) => {
			expect(value(text)).toBe(text);
		},
	);

	test.each(["'yes'", '"12"', "'~'", "!!str 12", "! 12"])("%s is text", (text) => {
		expect(value(text)).toBe(
			text
				.replace(/^!\S* |['"]/g, "")
				.replace("'", "")
				.replace('"', ""),
		);
	});

	test("tags type quoted scalars too", () => {
		expect(value('!!int "12"')).toBe(12);
		expect(load("k: !thing 1\n").problems).toMatchObject([{ code: "yaml-tag", at: "k" }]);
	});

	test("a block scalar is text, line by line", () => {
		expect(value("|\n  12\n  yes")).toBe("12\nyes\n");
	});

	test("a number that would be rounded is refused", () => {
		expect(value("9007199254740991")).toBe(9007199254740991);
		const { problems } = load("a:\n  k: 9007199254740993\n");
		expect(problems).toMatchObject([{ code: "number-too-large", at: "a.k", source: { line: 2, column: 3 } }]);
	});
});

describe("keys", () => {
	test("are text, whatever they look like, in their order", () => {
		const { raw } = load('m: {on: 1, 10: 2, 9: 3, yes: 4, 1.50: 5, __proto__: 6, "": 7}\n');
		expect([...(raw.get("m") as Map<string, number>).keys()]).toEqual([
			"on",
			"10",
			"9",
			"yes",
			"1.50",
			"__proto__",
			"",
		]);
	});

	test("given twice are refused with both places", () => {
		const { problems } = load("a:\n  x: 1\n  y: 2\n  'x': 3\nb: {1: 1, 1: 2}\n");
		expect(problems).toMatchObject([
			{ code: "duplicate-key", at: "a.x", source: { line: 4, column: 3 } },
			{ code: "duplicate-key", at: "b.1", source: { line: 5, column: 11 } },
		]);
		expect(problems[0]!.message).toContain("submit.yaml:2:3");
	});

	test("that are no text are refused", () => {
		expect(load("? [a]\n: 1\n").problems).toMatchObject([
			{ code: "yaml-key", source: { line: 1, column: 3 } },
		]);
	});

	test("scratch namespaces are dropped at the top only, with what they hold", () => {
		const { raw, problems } = load("_s: {a: '${x}'}\nb: {_c: 1}\n");
		expect(problems).toEqual([]);
		expect(raw).toEqual(new Map([["b", new Map([["_c", 1]])]]));
	});
});

describe("anchors, aliases, merges", () => {
	test("an alias is its anchor's value, also from a scratch namespace", () => {
		expect(load("_x: &x {a: [1, 2]}\nk: *x\n").raw.get("k")).toEqual(new Map([["a", [1, 2]]]));
	});

	test("own keys win over merged ones, earlier mappings over later ones", () => {
		const text = "_a: &a {x: 1, y: 1}\n_b: &b {y: 2, z: 2}\nk:\n  z: 3\n  <<: [*a, *b]\n";
		const merged = load(text).raw.get("k") as Map<string, number>;
		expect([...merged]).toEqual([
			["x", 1],
			["y", 1],
			["z", 3],
		]);
	});

	test("a quoted << is a key", () => {
		expect(load("k: {'<<': 1}\n").raw.get("k")).toEqual(new Map([["<<", 1]]));
	});

	test.each(["k: {<<: 1}\n", "k: *no\n", "k: &k [*k]\n", "k: &k {<<: *k}\n"])("%j is refused", (text) => {
		expect(load(text).problems.length).toBeGreaterThan(0);
	});

	test("aliases of aliases do not fill the memory", () => {
		const levels = Array.from(
			{ length: 12 },
			(_, i) => `l${i}: &l${i} [${Array(10).fill(i ? `*l${i - 1}` : 1)}]`,
		);
		const { problems } = load(`${levels.join("\n")}\n`);
		expect(problems.map(({ code }) => code)).toEqual(["yaml-too-large"]);
	});
});

describe("interpolation", () => {
	test.each([
		["'\\${a.b}'", "${a.b}"],
		["'x\\\\\\${a}'", "x\\${a}"],
		["'a\\b $ { \\c'", "a\\b $ { \\c"],
		["'\\\\'", "\\\\"],
		["'${oc.env:HEAD_NODE_IP}'", "${oc.env:HEAD_NODE_IP}"],
		["'http://${oc.env:RAY_HEAD_NODE_IP}:1/\\${x}'", "http://${oc.env:RAY_HEAD_NODE_IP}:1/${x}"],
		["'${oc.env:GYM_RAY_ADDRESS_HUB,none}'", "${oc.env:GYM_RAY_ADDRESS_HUB,none}"],
	])("%s stays for later", (text, expected) => expect(value(text)).toBe(expected));

	test.each([
		"${a.b}",
		"${oc.env:HOME}",
		"x\\\\${a}",
		"${oc.env:HEAD_NODE_IP} ${x}",
		"lit:Dfw%$#${*(d}@E",
		"${",
	])("%s is ours, and not yet", (text) => {
		const { problems } = load(`s:\n  k: '${text}'\n`);
		expect(problems).toMatchObject([
			{ code: "not-yet", at: "s.k", source: { file: "submit.yaml", line: 2, column: 3 } },
		]);
		expect(problems[0]!.message).toContain("interpolation");
		expect(problems[0]!.remedy).toContain("\\${");
		expect(JSON.stringify(problems)).not.toContain("Dfw");
	});
});

describe("places", () => {
	const text = "_t: &t {b: 1}\na:\n  - x\n  - y: 1\nc: *t\n";
	const { sources } = load(text);

	test.each([
		[["a"], 2, 1],
		[["a", 0], 3, 5],
		[["a", 1, "y"], 4, 5],
		[["a", 1, "missing", "below"], 4, 5],
		[["c"], 5, 1],
		[["c", "b"], 1, 9],
	])("%j", (path, line, column) => {
		expect(sources.locate(path as (string | number)[])).toEqual({
			source: { file: "submit.yaml", line, column },
		});
	});

	test("what is nowhere in the file is in the file", () => {
		expect(sources.locate(["zzz"])).toEqual({ source: { file: "submit.yaml" } });
	});
});

describe("files that are no document", () => {
	test("syntax errors have line and column", () => {
		const { problems, raw } = load("a: 1\nb: [1, 2\nc: }\n");
		expect(problems.length).toBeGreaterThan(0);
		for (const { code, source } of problems) {
			expect(code).toBe("yaml-syntax");
			expect(source).toMatchObject({
				file: "submit.yaml",
				line: expect.any(Number),
				column: expect.any(Number),
			});
		}
		expect(raw.size).toBe(0);
	});

	test.each(["", "# nothing\n", "[1]\n", "text\n"])("%j has no mapping", (text) => {
		expect(load(text).problems).toMatchObject([{ code: "yaml-root" }]);
	});

	test.each(["a: lit:x\n]s3cret", "a: lit:x\nb: >s3cret", "a: !s3cret x", "a: lit:x\n}! s3cret"])(
		"what is wrong is not quoted: %j",
		(text) => {
			const { problems } = load(text);
			expect(problems).not.toEqual([]);
			expect(JSON.stringify(problems)).not.toContain("s3cret");
		},
	);

	test("two documents in a file are refused", () => {
		expect(load("a: 1\n---\nb: 1\n").problems).toMatchObject([{ code: "yaml-syntax" }]);
	});
});
