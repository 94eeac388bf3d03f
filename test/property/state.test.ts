import fc from "fast-check";
import { expect, test } from "vitest";
import type {
	AddressRecord,
	ChainRecord,
	Progress,
	RunRecord,
	Segment,
	StateDocument,
} from "../../state/document.ts";
import { folderName, stackOfFolder } from "../../state/folder-name.ts";
import { parseState, serializeState } from "../../state/schema.ts";

const hostile = fc.constantFrom(
	"__proto__",
	"constructor",
	"toString",
	"10",
	"9",
	"",
	"..",
	"a/b",
	"\u2028",
	"\ud800",
	"é",
);
const word = fc.oneof(hostile, fc.string({ unit: "binary" }));
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
/** JSON has no negative zero. */
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const count = fc.nat();

const segment: fc.Arbitrary<Segment> = fc.record({
	cluster: orNull(word),
	jobId: word,
	submittedAt: orNull(number),
	state: orNull(word),
	exitCode: orNull(fc.integer()),
	reason: orNull(word),
	startedAt: orNull(number),
	endedAt: orNull(number),
	elapsed: orNull(number),
	nodes: orNull(word),
	decision: orNull(fc.record({ word, retries: count })),
});

const progress: fc.Arbitrary<Progress> = fc.record({
	done: count,
	expected: orNull(count),
	rewardSum: number,
	rewardCount: count,
	rewardSquares: number,
	offset: fc.maxSafeNat(),
});

const chain: fc.Arbitrary<ChainRecord> = fc.record({
	retries: count,
	walltime: count,
	idle: count,
	budget: orNull(fc.record({ maxRetries: count, maxWalltime: orNull(count), noProgress: orNull(count) })),
});

const run: fc.Arbitrary<RunRecord> = fc.record({
	runDir: word,
	runId: word,
	jobDir: word,
	fingerprint: word,
	submittedBy: orNull(word),
	status: fc.constantFrom("submitting", "held", "node-fail", "succeeded", "unknown"),
	note: orNull(word),
	segments: fc.array(segment, { maxLength: 3 }),
	chain: orNull(chain),
	error: orNull(word),
	progress: orNull(progress),
	rendered: fc.array(fc.tuple(word, word), { maxLength: 4 }).map((files) => Object.fromEntries(files)),
	document: word,
});

const address: fc.Arbitrary<AddressRecord> = fc.record({
	current: orNull(run),
	history: fc.array(run, { maxLength: 2 }),
});

const state: fc.Arbitrary<StateDocument> = fc.record({
	version: fc.constant(1 as const),
	lineage: fc.uuid(),
	serial: fc.integer({ min: 1 }),
	writer: word,
	stack: word,
	cluster: orNull(
		fc.record({
			type: fc.constantFrom("slurm", "local"),
			name: word,
			hostname: orNull(word),
			outputPath: word,
		}),
	),
	fence: count,
	benchmarks: fc.array(fc.tuple(word, address), { maxLength: 4 }).map((entries) => new Map(entries)),
});

test("every state survives being written and read, bytes and all", () => {
	fc.assert(
		fc.property(state, (document) => {
			const text = serializeState(document);
			const read = parseState(text, "f");
			expect(new Set(read.benchmarks.keys())).toEqual(new Set(document.benchmarks.keys()));
			for (const [name, record] of document.benchmarks) {
				expect(read.benchmarks.get(name)).toEqual(record);
				expect(Object.keys(read.benchmarks.get(name)?.current?.rendered ?? {}).sort()).toEqual(
					Object.keys(record.current?.rendered ?? {}).sort(),
				);
			}
			expect({ ...read, benchmarks: null }).toEqual({ ...document, benchmarks: null });
			expect(serializeState(read)).toBe(text);
			expect(text.endsWith("}\n")).toBe(true);
		}),
	);
});

test("no text makes the reader fail otherwise than with its own error", () => {
	fc.assert(
		fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
			expect(() => parseState(text, "f")).toThrow(/^state-(unreadable|newer): /);
		}),
	);
});

test("every stack name has a folder of its own, safe as one path segment on any file system", () => {
	fc.assert(
		fc.property(fc.string({ unit: "grapheme" }), (stack) => {
			expect(folderName(stack)).toMatch(/^[a-z0-9_%-][a-z0-9_.%-]*$/);
			expect(stackOfFolder(folderName(stack))).toBe(stack);
		}),
	);
});
