import fc from "fast-check";
import { expect, test } from "vitest";
import { loadSubmitYaml } from "../../src/load/submit-yaml.ts";
import type { Value } from "../../src/submit/config.ts";
import { emitYaml } from "../../src/submit/emit.ts";
import { fingerprint } from "../../src/submit/fingerprint.ts";
import { float, isFloat } from "../../src/submit/float.ts";
import { mountProblem, parseMount } from "../../src/submit/schema/mount.ts";
import { validateDocument } from "../../src/submit/validate.ts";
import { mount, number, text, tree, wholeFloat } from "./document-values.ts";

test("a tree comes back from its YAML as it was, in its order", () => {
	fc.assert(
		fc.property(tree, (value) => {
			const { raw, problems } = loadSubmitYaml(emitYaml(new Map([["k", value]])), "x");
			expect(problems).toEqual([]);
			expect(raw.get("k")).toEqual(value);
			expect(JSON.stringify([...flatKeys(raw.get("k"))])).toBe(JSON.stringify([...flatKeys(value)]));
		}),
		{ numRuns: 300 },
	);
});

function* flatKeys(value: unknown): Generator<string> {
	if (Array.isArray(value)) for (const item of value) yield* flatKeys(item);
	if (!(value instanceof Map)) return;
	for (const [key, item] of value) {
		yield key;
		yield* flatKeys(item);
	}
}

test("text and numbers come back as they were", () => {
	fc.assert(
		fc.property(fc.oneof(text, number, wholeFloat), (value) => {
			const { raw } = loadSubmitYaml(emitYaml(new Map([["k", value]])), "x");
			expect(raw.get("k")).toEqual(value);
		}),
		{ numRuns: 1000 },
	);
});

test("the order of keys does not change a fingerprint, a value does", () => {
	fc.assert(
		fc.property(
			fc.uniqueArray(fc.tuple(fc.string(), tree), { selector: ([key]) => key, minLength: 1 }),
			(entries) => {
				const print = fingerprint(new Map([["run", new Map(entries)]]));
				expect(fingerprint(new Map([["run", new Map(entries.toReversed())]]))).toBe(print);
				const [[key, value], ...rest] = entries as [(typeof entries)[0], ...typeof entries];
				expect(fingerprint(new Map([["run", new Map([[key, [value]], ...rest])]]))).not.toBe(print);
			},
		),
	);
});

test("a float and the integer of its value are two jobs", () => {
	fc.assert(
		fc.property(wholeFloat.filter(isFloat), (value) => {
			const print = (item: Value) => fingerprint(new Map([["run", new Map([["x", [item]]])]]));
			expect(print(value)).not.toBe(print(value.value));
			expect(print(value)).toBe(print(float(value.value)));
		}),
	);
});

test("no problem shows a value of env, however it is written", () => {
	const written = fc
		.constantFrom(
			"M",
			"lit:M",
			"host:M M",
			"[M]",
			"{A: M}",
			"{A: [lit:M]}",
			"{A: {B: M}}",
			"{A: 'lit:M\\0'}",
			"{A: M, 1B: M}",
			"{A: 'host:M-M'}",
		)
		.map((form) => form.replaceAll("M", "s3cret"));
	const holder = fc.constantFrom(
		["services", "{type: vllm, container: c, model: m, port: x, env: E}"],
		["services", "{type: vllm_pd, container: c, model: m, prefill: {env: E}, decode: {env: E}}"],
		["services", "{type: ray, container: r, env: E}"],
		["services", "{type: typo, env: E}"],
		["services", "{typo: 1, env: E}"],
		["compute", "{type: local, env: E}"],
		["compute", "{type: slurm, env: E}"],
		["driver", "E"],
	);
	fc.assert(
		fc.property(written, holder, (env, [section, entry]) => {
			const text =
				section === "driver"
					? `driver: {env: ${env}}\n`
					: `${section}: {x: ${entry!.replaceAll("E", env)}}\n`;
			const { raw, problems: before } = loadSubmitYaml(text, "x");
			const { problems } = validateDocument(raw, { hostEnv: () => "s3cret", missingHost: "error" });
			expect(problems.length).toBeGreaterThan(0);
			expect(JSON.stringify([before, problems])).not.toContain("s3cret");
		}),
	);
});

test("validation never throws, whatever the tree", () => {
	const sections = fc.dictionary(fc.constantFrom("services", "compute", "driver", "job", "otel", "x"), tree);
	fc.assert(
		fc.property(sections, (raw) => {
			const document = new Map(Object.entries(raw));
			const { config, problems } = validateDocument(document, {
				hostEnv: () => undefined,
				missingHost: "note",
			});
			expect(config === null).toBe(problems.some(({ severity }) => severity === "error"));
		}),
		{ numRuns: 50 },
	);
});

test("a mount that is accepted has the parts it was written with", () => {
	fc.assert(
		fc.property(mount, (written) => {
			fc.pre(mountProblem(written) === undefined);
			const { source, target, flags } = parseMount(written);
			expect([source, target, flags]).toSatisfy(([a, b, c]: string[]) =>
				[`${a}:${b}:${c}`, `${a}:${b}`, a].includes(written),
			);
			expect(written).not.toMatch(/[,\n$]/);
		}),
	);
});
