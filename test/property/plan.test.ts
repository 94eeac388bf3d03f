import fc from "fast-check";
import { expect, test } from "vitest";
import { classOf } from "../../src/plan/change-class.ts";
import { diffDocuments } from "../../src/plan/document-diff.ts";
import { readDocument, writeDocument } from "../../src/plan/document-text.ts";
import type { Change } from "../../src/plan/plan.ts";
import { diffText } from "../../src/plan/text-diff.ts";
import type { Value } from "../../src/submit/config.ts";
import { float, isFloat } from "../../src/submit/float.ts";

type Document = ReadonlyMap<string, Value>;

const key = fc.oneof(
	fc.constantFrom("services", "compute", "node_pools", "a", "10", "9", "__proto__"),
	fc.string(),
);
const { mapping } = fc.letrec<{ value: Value; mapping: Document }>((tie) => ({
	value: fc.oneof(
		{ depthSize: "small", withCrossShrink: true },
		fc.oneof(
			fc.constant(null),
			fc.boolean(),
			fc.integer(),
			fc.double({ noNaN: true }),
			fc.integer().map(float),
			fc.string(),
		),
		fc.array(tie("value"), { maxLength: 3 }),
		tie("mapping"),
	),
	mapping: fc
		.uniqueArray(fc.tuple(key, tie("value")), { selector: ([name]) => name, maxLength: 4 })
		.map((entries) => new Map(entries)),
}));

/** Applies changes to a document, as a reader of a plan would. */
function applyChanges(document: Document, changes: readonly Change[]): Document {
	return changes.reduce((now, change) => set(now, change.path, change) as Document, document);
}

function set(value: Value | undefined, path: Change["path"], change: Change): Value | undefined {
	const [step, ...rest] = path;
	if (step === undefined) {
		if (!change.order) return change.after;
		const map = value as Document;
		return new Map((change.after as readonly string[]).map((name) => [name, map.get(name)!]));
	}
	if (typeof step === "number")
		return (value as readonly Value[]).with(step, set((value as readonly Value[])[step], rest, change)!);
	const map = new Map(value as Document);
	const next = set(map.get(step), rest, change);
	if (next === undefined) map.delete(step);
	else map.set(step, next);
	return map;
}

/** The same value in other objects. */
function copy(value: Value): Value {
	if (value instanceof Map) return copyMap(value);
	if (Array.isArray(value)) return value.map(copy);
	return isFloat(value) ? float(value.value) : value;
}

function copyMap(map: Document): Document {
	return new Map([...map].map(([name, item]) => [name, copy(item)]));
}

const orderOf = (document: Document) => {
	const services = document.get("services");
	return services instanceof Map ? [...services.keys()] : [];
};

test("a document does not differ from itself", () => {
	fc.assert(
		fc.property(mapping, (document) => {
			expect(diffDocuments(document, copyMap(document))).toEqual([]);
		}),
	);
});

test("applying the changes from a to b to a gives b", () => {
	fc.assert(
		fc.property(mapping, mapping, (a, b) => {
			const result = applyChanges(a, diffDocuments(a, b));
			expect(diffDocuments(result, b)).toEqual([]);
			expect(result).toEqual(b);
			expect(orderOf(result)).toEqual(orderOf(b));
		}),
	);
});

test("both directions change the same paths", () => {
	fc.assert(
		fc.property(mapping, mapping, (a, b) => {
			const paths = (changes: readonly Change[]) =>
				new Set(changes.filter((change) => !change.order).map((change) => JSON.stringify(change.path)));
			expect(paths(diffDocuments(a, b))).toEqual(paths(diffDocuments(b, a)));
		}),
	);
});

test("every path has a class", () => {
	fc.assert(
		fc.property(fc.array(fc.oneof(key, fc.nat())), (path) => {
			expect(["results", "speed", "cosmetic"]).toContain(classOf(path));
		}),
	);
});

test("a document survives being written and read", () => {
	fc.assert(
		fc.property(mapping, (document) => {
			const back = readDocument(writeDocument(document));
			expect(back).toEqual(document);
			expect([...back.keys()]).toEqual([...document.keys()]);
		}),
	);
});

test.each([
	["with", "\n"],
	["without", ""],
])(
	"the plus and context lines of a diff of texts %s a line feed at their end are the new text, the minus and context lines the old one",
	(_, end) => {
		// So few lines that the context of a change reaches all others.
		const text = fc
			.array(fc.constantFrom("a", "b", "c", ""), { minLength: 1, maxLength: 4 })
			.filter((lines) => end !== "" || lines.at(-1) !== "")
			.map((lines) => `${lines.join("\n")}\n`);
		fc.assert(
			fc.property(text, text, (before, after) => {
				fc.pre(before !== after);
				const [old, now] = [before, after].map((whole) => (end === "" ? whole.slice(0, -1) : whole));
				const lines = diffText(old!, now!).filter((line) => !line.startsWith("@@"));
				const side = (mark: string) =>
					lines
						.filter((line) => line[0] !== mark)
						.map((line) => `${line.slice(1)}\n`)
						.join("");
				expect(side("-")).toBe(after);
				expect(side("+")).toBe(before);
			}),
		);
	},
);
