/** Our YAML in the peer's readers, and plain scalars in theirs and ours. */
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { loadSubmitYaml } from "../../src/load/submit-yaml.ts";
import type { Value } from "../../src/submit/config.ts";
import { emitYaml, toPlain } from "../../src/submit/emit.ts";
import { validateDocument } from "../../src/submit/validate.ts";
import { tree } from "../property/document-values.ts";
import { read, shown } from "./peer.ts";

const CASES = new URL("../conformance/kit/submit/given/cases/", import.meta.url);

/** A document's text, and what it says. */
interface Case {
	readonly yaml: string;
	readonly value: ReadonlyMap<string, Value>;
}

/** The first documents that a reader reads differently from what was meant. */
function differences(cases: readonly Case[], readers: readonly ("PyYAML" | "OmegaConf")[]): unknown {
	return readers.flatMap((reader) => {
		const got = read(
			reader,
			cases.map(({ yaml }) => yaml),
		);
		return cases
			.map(({ yaml, value }, i) => ({ reader, yaml, wanted: shown(value), got: shown(got[i]) }))
			.filter(({ wanted, got }) => wanted !== got)
			.slice(0, 10);
	});
}

test("any tree is read back as it was", () => {
	const trees = fc.sample(tree, { numRuns: 1500, seed: 1 });
	const cases = trees.map((value) => {
		const document = new Map([["k", value]]);
		return { yaml: emitYaml(document), value: document };
	});
	expect(differences(cases, ["PyYAML", "OmegaConf"])).toEqual([]);
});

test("resolved documents of the kit are read back as they were", () => {
	const cases = readdirSync(CASES).flatMap((name) => {
		const { raw, problems } = loadSubmitYaml(readFileSync(new URL(name, CASES), "utf8"), name);
		const { config } = validateDocument(raw, { hostEnv: () => "x", missingHost: "note" });
		return config && problems.length === 0 ? [{ yaml: emitYaml(config), value: toPlain(config) }] : [];
	});
	expect(cases.length).toBeGreaterThan(30);
	expect(differences(cases, ["PyYAML", "OmegaConf"])).toEqual([]);
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
		return { yaml: `k: ${text}\n`, value: raw, problems };
	});
	expect(
		differences(
			cases.filter(({ problems }) => problems.length === 0),
			["OmegaConf"],
		),
	).toEqual([]);
});
