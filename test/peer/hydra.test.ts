/** Our override tokens in Hydra itself: what it composes from them is what the document said, types included. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { hydraProblems, hydraTokens } from "../../src/job/hydra.ts";
import type { Value } from "../../src/submit/config.ts";
import { number, text, wholeFloat } from "../property/document-values.ts";
import { Other, read, shown } from "./peer.ts";

/** Interpolations reach Gym as they are; what is none but holds `${` OmegaConf refuses in every form. */
const interpolation = fc.constantFrom(
	"${a}",
	"x ${oc.env:HOME} y",
	"\\${a}",
	"${a}${b.c}",
	"a\\\\${oc.env:B,'}'}",
);
const hydraText = fc
	.oneof(
		text.filter((value) => !value.includes("${")),
		interpolation,
		fc.string({ unit: fc.constantFrom(..."\"'\\,=:{}[]() \t\n#~!@$%;.-+_/*?aé0"), maxLength: 8 }),
		fc.stringMatching(/^[-+]?[0-9._eE]{1,6}$/),
		fc.constantFrom(
			"inf",
			"-INF",
			"+nan",
			"NaN",
			"null",
			"Null",
			"TRUE",
			"false",
			"None",
			"1_0",
			"???",
			"a b",
		),
	)
	.filter((value) => !value.includes("\0"));

const key = fc.oneof(
	fc.stringMatching(/^[A-Za-z_$][A-Za-z0-9_$-]{0,4}$/),
	fc.stringMatching(/^[0-9]{1,3}$/),
	fc.string({ unit: fc.constantFrom(..."ab_/-\\+.$%*@?|()[]{}:=, \t1"), minLength: 1, maxLength: 5 }),
	hydraText,
);

const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 3, withCrossShrink: true },
		fc.oneof(hydraText, number, wholeFloat, fc.constantFrom(null, true, false, Number.NaN)),
		fc.array(tie("value"), { maxLength: 3 }),
		fc
			.uniqueArray(fc.tuple(key, tie("value")), { selector: ([name]) => name, maxLength: 3 })
			.map((entries) => new Map(entries)),
	),
})).value;

/** Documents of a hundred values each; one that cannot be carried, by our own judgement, is left out. */
function batches(values: readonly Value[]): readonly ReadonlyMap<string, Value>[] {
	const carried = values.filter((one) => hydraProblems(new Map([["v", one]]), "").length === 0);
	const starts = [...carried.keys()].filter((i) => i % 100 === 0);
	return starts.map((at) => new Map(carried.slice(at, at + 100).map((one, i) => [`v${i}`, one])));
}

/** Values that came back otherwise, with their tokens. */
function differences(documents: readonly ReadonlyMap<string, Value>[]): readonly object[] {
	const tokens = documents.map((document) => hydraTokens(document, { prefix: "+" }));
	return read("Hydra", tokens).flatMap((got, i) =>
		[...documents[i]!].flatMap(([name, wanted]) => {
			if (got instanceof Other) return i === 0 || name === "v0" ? [got] : [];
			const back = (got as ReadonlyMap<string, Value>).get(name);
			const sent = hydraTokens(new Map([[name, wanted]]), { prefix: "+" });
			return shown(back) === shown(wanted) ? [] : [{ sent, wanted: shown(wanted), got: shown(back) }];
		}),
	);
}

test("any value that is not refused comes back from Hydra as it was", () => {
	const documents = batches(fc.sample(value, { numRuns: 5000, seed: 1 }));
	expect(documents.length).toBeGreaterThan(20);
	expect(differences(documents).slice(0, 5)).toEqual([]);
});
