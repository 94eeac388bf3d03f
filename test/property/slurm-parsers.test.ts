import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jobState } from "../../src/cluster/job-state.ts";
import { parseAccounting } from "../../src/cluster/slurm/accounting.ts";
import { parseQueue } from "../../src/cluster/slurm/queue.ts";
import { formatDuration, parseDuration } from "../../src/submit/duration.ts";

const jobId = fc.integer({ min: 1, max: 2 ** 31 }).map(String);
const seconds = fc.integer({ min: 1, max: 4_000_000_000 });
/** Anything a path may hold on one line, and what else a line break is not made of. */
const workDir = fc
	.string({ unit: "grapheme", maxLength: 60 })
	.map((text) => `/${text.replaceAll(/[\r\n]/g, "|")}`);

describe("rows", () => {
	test("any work directory is read back whole, in the queue and in the accounting", () => {
		fc.assert(
			fc.property(fc.array(fc.tuple(jobId, seconds, workDir)), (jobs) => {
				const queue = jobs
					.map(([id, at, dir]) => `${id}|RUNNING|${at}|N/A|0:01|1|n1|gym|None|${dir}`)
					.join("\n");
				expect(parseQueue(queue, 0).map((row) => [row.jobId, row.submittedAt, row.workDir])).toEqual(jobs);
				const last = [...new Map(jobs.map((job) => [job[0], job])).values()];
				const sacct = jobs
					.map(([id, at, dir]) => `${id}|FAILED|1:0|1|${at}|${at}|${at}|n1|gym|c|${dir}`)
					.join("\n");
				expect(parseAccounting(sacct, 0).map((row) => [row.jobId, row.endedAt, row.workDir])).toEqual(last);
			}),
		);
	});

	test("no text makes them fail", () => {
		fc.assert(
			fc.property(
				fc.array(fc.constantFrom("1", "|", "\n", "a", ":", "-", "T", "9999999999999999999", "\0")),
				(parts) => {
					const text = parts.join("");
					for (const row of parseQueue(text, 0)) expect(row.jobId).toMatch(/^\d+$/);
					for (const row of parseAccounting(text, 0)) expect(row.jobId).toMatch(/^\d+$/);
				},
			),
		);
	});

	test("a state is never both live and final, and unknown is neither a result nor free", () => {
		fc.assert(
			fc.property(fc.string(), (word) => {
				const { live, final } = jobState(word);
				expect(live).toBe(!final);
			}),
		);
	});
});

describe("durations", () => {
	test("what is formatted reads back the same", () => {
		fc.assert(
			fc.property(fc.integer({ min: 0, max: 10 ** 10 }), (total) => {
				expect(parseDuration(formatDuration(total))).toBe(total);
			}),
		);
	});

	test("all spellings of one duration agree", () => {
		fc.assert(
			fc.property(fc.nat(400), fc.nat(23), fc.nat(59), fc.nat(59), (days, hours, minutes, rest) => {
				const total = ((days * 24 + hours) * 60 + minutes) * 60 + rest;
				expect(parseDuration(`${days}-${hours}:${minutes}:${rest}`)).toBe(total);
				expect(parseDuration(`${days * 24 + hours}:${minutes}:${rest}`)).toBe(total);
				expect(parseDuration(`${(days * 24 + hours) * 60 + minutes}:${rest}`)).toBe(total);
				expect(parseDuration(`${days}-${hours}:${minutes}`)).toBe(total - rest);
			}),
		);
	});

	test("no text makes it fail, and the answer is never negative or NaN", () => {
		fc.assert(
			fc.property(fc.string(), (text) => {
				expect(parseDuration(text) ?? 0).toBeGreaterThanOrEqual(0);
			}),
		);
	});
});
