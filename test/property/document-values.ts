/** Arbitrary values of a submit document, with a taste for what readers of YAML misread. */
import fc from "fast-check";
import type { Value } from "../../src/submit/config.ts";
import { float } from "../../src/submit/float.ts";

const TRICKY = [
	...[
		"yes",
		"No",
		"on",
		"OFF",
		"y",
		"n",
		"null",
		"~",
		"",
		"true",
		"12:30:00",
		"1:30",
		"48:00",
		"0755",
		"0o17",
	],
	...[
		"0x1F",
		"0b11",
		"1_000",
		"1e3",
		"1.",
		".5",
		".inf",
		".NaN",
		"2024-01-15",
		"=",
		"<<",
		"-",
		"?",
		":",
		"a: b",
	],
	...[
		"# x",
		"a #b",
		"'",
		'"',
		"\\",
		"\t",
		"\n",
		" x ",
		"{a: 1}",
		"[1]",
		"&a",
		"*a",
		"!x",
		"%x",
		"@",
		"`",
		"|",
		">",
	],
	...["\u0085", "\u2028", "\u2029", "\ufeff", "\x7f", "\x1b", "\r\n", "---", "...", "é", "🙂", "\ufffe"],
	...[
		"${a}",
		"\\${a}",
		"\\\\${a}",
		"${",
		"$${x}",
		"}${",
		"${a",
		"\\",
		"a\\",
		"${oc.env:HOME}",
		"${oc.env:HEAD_NODE_IP}",
	],
];

/** Text. OmegaConf takes `???` alone for a value that is missing, so it is left out. */
export const text = fc
	.oneof(
		fc.constantFrom(...TRICKY),
		fc.string({ unit: "grapheme" }),
		fc.array(fc.constantFrom(...TRICKY, "\\", "${", "}"), { maxLength: 4 }).map((parts) => parts.join("")),
	)
	.filter((value) => value !== "???");

/** Numbers that JavaScript and Python both have; a whole one below 1e21 is an integer. */
export const number = fc
	.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true }), fc.constantFrom(1e21, 5e-7, 1.5e300, -0.1, -0))
	.filter((value) => !Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= 1e21);

/** Floats whose value is whole. */
export const wholeFloat = fc
	.oneof(
		fc.integer(),
		fc.maxSafeInteger(),
		fc.double({ noNaN: true }).map(Math.trunc),
		fc.constantFrom(1e20, 1),
	)
	.map(float);

const name = text.filter((value) => value !== "<<");

/** Whole trees. */
export const tree: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 3, withCrossShrink: true },
		fc.oneof(text, number, wholeFloat, fc.boolean(), fc.constant(null)),
		fc.array(tie("value"), { maxLength: 3 }),
		fc
			.uniqueArray(fc.tuple(name, tie("value")), { selector: ([key]) => key, maxLength: 4 })
			.map((entries) => new Map(entries)),
	),
})).value;

/** Mounts, most of them wrong. */
export const mount = fc
	.array(fc.constantFrom("/a", ":", "/b c", "ro", ",", "$X", "~", "\n", "x"), { maxLength: 6 })
	.map((parts) => parts.join(""));
