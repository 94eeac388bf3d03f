import { describe, expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import { STATE_VERSION, type StateDocument } from "../../../state/document.ts";
import { MIGRATIONS, migrate } from "../../../state/migrations.ts";
import { parseState, serializeState, type stateSchema } from "../../../state/schema.ts";
import { runRecord, sampleState } from "./support/documents.ts";
import { problemOf } from "./support/expect-problem.ts";

const text = serializeState(sampleState("s"));
const changed = (change: (json: Record<string, unknown>) => void) => {
	const json = JSON.parse(text);
	change(json);
	return JSON.stringify(json);
};

test("the schema and the types say the same", () => {
	type Read = z.output<typeof stateSchema>;
	expectTypeOf<Read>().toExtend<StateDocument>();
	expectTypeOf<Writable<StateDocument>>().toExtend<Read>();
});

type Writable<T> =
	T extends ReadonlyMap<infer K, infer V>
		? Map<K, Writable<V>>
		: T extends object
			? { -readonly [K in keyof T]: Writable<T[K]> }
			: T;

test("what was written is read back", () => {
	expect(parseState(text, "f")).toEqual(sampleState("s"));
});

test("a file cut off anywhere is an error that names it and the way back", async () => {
	const bytes = Buffer.from(text);
	for (let length = 0; length < bytes.length - 1; length++) {
		const cut = bytes.subarray(0, length).toString("utf8");
		const error = await problemOf(() => parseState(cut, "/x/state.7.json"), "failure", "state-unreadable");
		expect(error.problems[0]!.message).toContain("/x/state.7.json");
		expect(error.problems[0]!.remedy).toContain("earlier serial");
	}
});

test("only the last line end may be missing: nothing is lost with it", () => {
	expect(text.endsWith("}\n")).toBe(true);
	expect(parseState(text.slice(0, -1), "f")).toEqual(sampleState("s"));
});

test("a message never quotes the file", async () => {
	const error = await problemOf(() => parseState('{"a": hunter2}', "f"), "failure", "state-unreadable");
	expect(JSON.stringify(error.problems)).not.toContain("hunter2");
});

test.each([
	["null", "null"],
	["a list", "[]"],
	["a number", "1"],
	["no version", changed((json) => Reflect.deleteProperty(json, "version"))],
	["a version that is text", changed((json) => Object.assign(json, { version: "1" }))],
	["version 0", changed((json) => Object.assign(json, { version: 0 }))],
	["no lineage", changed((json) => Object.assign(json, { lineage: "" }))],
	["serial 0", changed((json) => Object.assign(json, { serial: 0 }))],
	["half a serial", changed((json) => Object.assign(json, { serial: 1.5 }))],
	["an unknown key", changed((json) => Object.assign(json, { extra: 1 }))],
	["benchmarks as a list", changed((json) => Object.assign(json, { benchmarks: [] }))],
	["no benchmarks", changed((json) => Reflect.deleteProperty(json, "benchmarks"))],
	["a benchmark without records", changed((json) => Object.assign(json, { benchmarks: { math: {} } }))],
	["a status of no kind", text.replace('"running"', '"walking"')],
	["a job id that is a number", text.replace('"42"', "42")],
])("refuses %s", async (_, damaged) => {
	expect(damaged).not.toBe(text);
	await problemOf(() => parseState(damaged, "f"), "failure", "state-unreadable");
});

test("names everything that is wrong at once", async () => {
	const damaged = changed((json) => Object.assign(json, { serial: -1, writer: 5 }));
	const error = await problemOf(() => parseState(damaged, "f"), "failure", "state-unreadable");
	expect(error.problems.map(({ message }) => message.split(":")[1]?.trim()).sort()).toEqual([
		"serial",
		"writer",
	]);
});

describe("a newer format", () => {
	test("names the version that is needed", async () => {
		const newer = JSON.stringify({ version: 7, writer: "2.0.0-rc.1", anything: {} });
		const error = await problemOf(() => parseState(newer, "f"), "failure", "state-newer");
		expect(error.problems[0]!.message).toContain("format 7");
		expect(error.problems[0]!.remedy).toContain("gymfile 2.0.0-rc.1");
	});

	test.each([[undefined], [3], ["\u001b[31m"]])("whose writer is %j is still told apart", async (writer) => {
		const error = await problemOf(
			() => parseState(JSON.stringify({ version: 2, writer }), "f"),
			"failure",
			"state-newer",
		);
		expect(error.message).not.toContain("\u001b");
	});
});

describe("migrations", () => {
	test("there is one for each older format", () => expect(MIGRATIONS).toHaveLength(STATE_VERSION - 1));

	test("run in order, from the format of the file on", () => {
		const steps = ["a", "b", "c"].map((letter) => (older: unknown) => `${older}${letter}`);
		expect(migrate("", 1, steps)).toBe("abc");
		expect(migrate("", 3, steps)).toBe("c");
		expect(migrate("", 4, steps)).toBe("");
	});
});

describe("writing", () => {
	test("gives equal bytes for equal documents, whatever the order of keys", () => {
		const state = sampleState("s");
		const run = runRecord();
		const reversed = Object.fromEntries(Object.entries(run).reverse()) as unknown as typeof run;
		const one = {
			...state,
			benchmarks: new Map([
				["a", { current: run, history: [] }],
				["b", { current: null, history: [] }],
			]),
		};
		const two = {
			...state,
			benchmarks: new Map([
				["b", { history: [], current: null }],
				["a", { history: [], current: reversed }],
			]),
		};
		expect(serializeState(two)).toBe(serializeState(one));
	});

	test("refuses what could not be read back", async () => {
		const progress = { ...runRecord().progress!, rewardSum: Number.NaN };
		const benchmarks = new Map([["math", { current: runRecord({ progress }), history: [] }]]);
		await problemOf(() => serializeState({ ...sampleState("s"), benchmarks }), "bug", "state-invalid");
	});
});
