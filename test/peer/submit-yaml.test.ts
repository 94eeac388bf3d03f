/** Our YAML in the peer's readers, and plain scalars in theirs and ours. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { loadSubmitYaml } from "../../src/load/submit-yaml.ts";
import type { Value } from "../../src/submit/config.ts";
import { emitYaml, toPlain } from "../../src/submit/emit.ts";
import { isFloat } from "../../src/submit/float.ts";
import { validateDocument } from "../../src/submit/validate.ts";
import { tree } from "../property/document-values.ts";

const here = (path: string) => new URL(path, import.meta.url).pathname;
const CASES = here("../conformance/kit/submit/given/cases/");

let python = "";

beforeAll(() => {
	python = execFileSync(here("../setup/python-yaml"), { encoding: "utf8" }).trim();
}, 300_000);

type Want = readonly [kind: string, value: unknown];

function want(value: Value): Want {
	if (value instanceof Map) return ["map", [...value].map(([key, item]) => [key, want(item)])];
	if (Array.isArray(value)) return ["list", value.map(want)];
	if (typeof value === "string") return ["text", value];
	// As text, because JSON has no infinity and knows no floats.
	if (isFloat(value)) return ["float", String(value)];
	if (typeof value !== "number") return ["word", value];
	if (Object.is(value, -0)) return ["float", "-0.0"];
	return [/^-?\d+$/.test(String(value)) ? "int" : "float", String(value)];
}

/** What the readers read differently from what was meant. */
function differences(
	cases: readonly { readonly yaml: string; readonly want: Want }[],
	readers = ["PyYAML", "OmegaConf"],
): unknown {
	return JSON.parse(
		execFileSync(python, [here("read-yaml.py"), ...readers], {
			input: JSON.stringify(cases),
			encoding: "utf8",
		}),
	);
}

test("any tree is read back as it was", () => {
	const trees = fc.sample(tree, { numRuns: 1500, seed: 1 });
	const cases = trees.map((value) => {
		const document = new Map([["k", value]]);
		return { yaml: emitYaml(document), want: want(document) };
	});
	expect(differences(cases)).toEqual([]);
});

test("resolved documents of the kit are read back as they were", () => {
	const cases = readdirSync(CASES).flatMap((name) => {
		const { raw, problems } = loadSubmitYaml(readFileSync(CASES + name, "utf8"), name);
		const { config } = validateDocument(raw, { hostEnv: () => "x", missingHost: "note" });
		return config && problems.length === 0 ? [{ yaml: emitYaml(config), want: want(toPlain(config)) }] : [];
	});
	expect(cases.length).toBeGreaterThan(30);
	expect(differences(cases)).toEqual([]);
});

test("plain scalars are what OmegaConf's reader makes of them, but for clock times and octals", () => {
	const plain = fc.stringMatching(/^[-+]?[0-9._a-fxeEyYnNoOfFtTrRuUsSlL~]{0,8}$/);
	const words = [
		"yes",
		"NO",
		"On",
		"off",
		"True",
		"~",
		"null",
		"0x1F",
		"0b1",
		"1_0",
		"1e5",
		"1.0",
		"-0.0",
		"1.5e3",
		".5",
		".inf",
		"-.INF",
		".nan1",
	];
	const texts = [...words, ...fc.sample(plain, { numRuns: 3000, seed: 1 })].filter(
		(text) => !/^[-+]?0[0-7_]+$/.test(text),
	);
	const cases = texts.map((text) => {
		const { raw, problems } = loadSubmitYaml(`k: ${text}\n`, "x");
		return { yaml: `k: ${text}\n`, want: want(raw), problems };
	});
	expect(
		differences(
			cases.filter(({ problems }) => problems.length === 0),
			["OmegaConf"],
		),
	).toEqual([]);
});
