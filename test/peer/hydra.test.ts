/** Our override tokens in Hydra itself: what it composes from them is what the document said, types included. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { hydraProblems, hydraTokens } from "../../src/job/hydra.ts";
import type { Value } from "../../src/submit/config.ts";
import { number, text, wholeFloat } from "../property/document-values.ts";
import { read, shown } from "./peer.ts";

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

/** Documents of a hundred entries each: Hydra composes many overrides as fast as one. */
function batches(entries: readonly (readonly [string, Value])[]): readonly ReadonlyMap<string, Value>[] {
	const starts = [...entries.keys()].filter((i) => i % 100 === 0);
	return starts.map((at) => new Map(entries.slice(at, at + 100)));
}

/** What came back otherwise; the whole answer of a document that Hydra refused. */
function differences(documents: readonly ReadonlyMap<string, Value>[]): readonly object[] {
	const tokens = documents.map((document) => hydraTokens(document, { prefix: "+" }));
	return read("Hydra", tokens).flatMap((got, i) => {
		if (!(got instanceof Map)) return [{ got: shown(got) }];
		const wanted = [...documents[i]!];
		const back = wanted.map(([name, value]) => ({
			sent: hydraTokens(new Map([[name, value]]), { prefix: "+" }),
			wanted: shown(value),
			got: shown(got.get(name)),
		}));
		return back.filter((one) => one.wanted !== one.got);
	});
}

const carried = (entry: readonly [string, Value]) => hydraProblems(new Map([entry]), "").length === 0;

test("any value that is not refused comes back from Hydra as it was", () => {
	const values = fc.sample(value, { numRuns: 5000, seed: 1 });
	const entries = values.map((one, i) => [`v${i}`, one] as const).filter(carried);
	expect(entries.length).toBeGreaterThan(3500);
	expect(differences(batches(entries)).slice(0, 5)).toEqual([]);
});

test("any key of run itself that is not refused comes back from Hydra as it was", () => {
	const keys = new Set(fc.sample(key, { numRuns: 3000, seed: 1 }));
	const entries = [...keys].map((name) => [name, 1] as const).filter(carried);
	expect(entries.length).toBeGreaterThan(500);
	expect(differences(batches(entries)).slice(0, 5)).toEqual([]);
});
