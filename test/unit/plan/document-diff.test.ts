import { expect, test } from "vitest";
import { diffDocuments } from "../../../src/plan/document-diff.ts";
import type { Value } from "../../../src/submit/config.ts";
import { float } from "../../../src/submit/float.ts";
import { toValue } from "./runs.ts";

const map = (plain: unknown) => toValue(plain) as ReadonlyMap<string, Value>;
const diff = (before: unknown, after: unknown) => diffDocuments(map(before), map(after));

test("changed, added and removed keys are reported by path", () => {
	const changes = diff(
		{ driver: { container: "a", env: { A: "lit:1" } } },
		{ driver: { container: "b", policy_host: "h" } },
	);
	expect(changes).toEqual([
		{ path: ["driver", "container"], before: "a", after: "b", class: "results" },
		{ path: ["driver", "policy_host"], before: undefined, after: "h", class: "results" },
		{ path: ["driver", "env"], before: map({ A: "lit:1" }), after: undefined, class: "results" },
	]);
});

test("lists of one length are compared item by item, others as a whole", () => {
	expect(diff({ m: ["a", "b"] }, { m: ["a", "c"] })).toMatchObject([
		{ path: ["m", 1], before: "b", after: "c" },
	]);
	expect(diff({ m: ["a"] }, { m: ["a", "c"] })).toMatchObject([
		{ path: ["m"], before: ["a"], after: ["a", "c"] },
	]);
});

test("values of another type are changes, however alike they look", () => {
	expect(diff({ v: 1 }, { v: "1" })).toHaveLength(1);
	expect(diff({ v: null }, { v: "" })).toHaveLength(1);
	expect(diff({ v: null }, {})).toHaveLength(1);
	expect(diff({ v: {} }, { v: [] })).toHaveLength(1);
});

test("a float is another value than the integer, and the same as its like", () => {
	const document = (value: Value) => new Map([["v", [value]]]);
	expect(diffDocuments(document(1), document(float(1)))).toMatchObject([
		{ path: ["v", 0], before: 1, after: float(1) },
	]);
	expect(diffDocuments(document(float(1)), document(float(1)))).toEqual([]);
	expect(diffDocuments(document(float(1)), document(float(2)))).toHaveLength(1);
});

test("the order of keys in env, run and benchmarks is no change", () => {
	expect(
		diff(
			{ driver: { env: { A: "1", B: "2" }, benchmarks: { x: { run: { a: 1, b: { c: 1, d: 2 } } }, y: {} } } },
			{ driver: { benchmarks: { y: {}, x: { run: { b: { d: 2, c: 1 }, a: 1 } } }, env: { B: "2", A: "1" } } },
		),
	).toEqual([]);
});

test("the order of services and node pools is one", () => {
	const changes = diff(
		{ services: { policy: {}, judge: {} }, compute: { lab: { node_pools: { a: {}, b: {} } } } },
		{ services: { judge: {}, policy: {} }, compute: { lab: { node_pools: { b: {}, a: {} } } } },
	);
	expect(changes).toEqual([
		{
			path: ["services"],
			before: ["policy", "judge"],
			after: ["judge", "policy"],
			class: "speed",
			order: true,
		},
		{
			path: ["compute", "lab", "node_pools"],
			before: ["a", "b"],
			after: ["b", "a"],
			class: "speed",
			order: true,
		},
	]);
});

test("a service added at the end is no change of order, one put first is", () => {
	const before = { services: { policy: {} } };
	expect(diff(before, { services: { policy: {}, judge: {} } })).toHaveLength(1);
	expect(diff(before, { services: { judge: {}, policy: {} } }).map((change) => change.order)).toEqual([
		undefined,
		true,
	]);
});

test("names that objects treat specially are only names", () => {
	const before = new Map([
		["__proto__", 1],
		["constructor", 1],
	]);
	const after = new Map([
		["__proto__", 2],
		["constructor", 1],
	]);
	expect(diffDocuments(before, after)).toMatchObject([{ path: ["__proto__"], before: 1, after: 2 }]);
});
