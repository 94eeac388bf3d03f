import { describe, expect, test } from "vitest";
import { accountingCommand, parseAccounting } from "../../../src/cluster/slurm/accounting.ts";
import { parseQueue, queueCommand } from "../../../src/cluster/slurm/queue.ts";
import { parseSlurmTime, parseUtcOffset } from "../../../src/cluster/slurm/time.ts";

describe("times", () => {
	test.each([
		["1796059672", 0, 1_796_059_672],
		["1796059672", 9 * 3600, 1_796_059_672],
		["2026-11-30T17:27:52", 0, 1_796_059_672],
		["2026-12-01T02:27:52", 9 * 3600, 1_796_059_672],
		["2026-11-30T12:27:52", -5 * 3600, 1_796_059_672],
	])("%s at offset %d", (text, offset, seconds) => {
		expect(parseSlurmTime(text, offset)).toBe(seconds);
	});

	test.each(["N/A", "Unknown", "None", "", "0", "17:27:52", "Tomorrow"])("%j is no moment", (text) => {
		expect(parseSlurmTime(text, 0)).toBeNull();
	});

	test.each([
		["+0000", 0],
		["+0900\n", 32_400],
		["-0330", -12_600],
		["+05:45", 20_700],
		["UTC", null],
		["", null],
	])("offset %j", (text, seconds) => {
		expect(parseUtcOffset(text)).toBe(seconds);
	});
});

describe("queue", () => {
	const lines = [
		"1|RUNNING|1796059672|1796059673|1-02:00:03|2|node[1,3]|gym|None|/e/a|b c/run",
		"2|PENDING|1796059672|N/A|0:00|5||gym|ReqNodeNotAvail, UnavailableNodes:node[1-2]|/e/run",
		"3|CANCELLED|1796059672|1796059672|INVALID|1||gym|JobHeldUser|/e/new",
		"line",
		"",
		"slurm_load_jobs error: Unable to contact slurm controller",
		"x|RUNNING|1|1|1|1|n|gym|None|/no-id",
		"4|RUNNING|1796059672",
	];

	test("reads what squeue 22.05 prints, and passes over what is no row", () => {
		expect(parseQueue(lines.join("\n"), 0)).toEqual([
			{
				jobId: "1",
				state: "RUNNING",
				reason: null,
				submittedAt: 1_796_059_672,
				startsAt: 1_796_059_673,
				elapsed: 93_603,
				nodes: 2,
				nodeList: "node[1,3]",
				user: "gym",
				workDir: "/e/a|b c/run",
			},
			{
				jobId: "2",
				state: "PENDING",
				reason: "ReqNodeNotAvail, UnavailableNodes:node[1-2]",
				submittedAt: 1_796_059_672,
				startsAt: null,
				elapsed: 0,
				nodes: 5,
				nodeList: null,
				user: "gym",
				workDir: "/e/run",
			},
			// Slurm calls the moment of its cancel its start.
			expect.objectContaining({ jobId: "3", startsAt: null, elapsed: null, workDir: "/e/new" }),
		]);
	});

	test("reads CRLF and local times", () => {
		const [row] = parseQueue("1|RUNNING|2026-12-01T02:27:52|N/A|0:01|1|n1|gym|None|/e\r\n", 9 * 3600);
		expect(row).toMatchObject({ submittedAt: 1_796_059_672, workDir: "/e" });
	});

	test("no rows for no answer", () => {
		expect(parseQueue("", 0)).toEqual([]);
	});

	test("asks in a fixed format, of the caller's jobs only, without JSON", () => {
		expect(queueCommand()).toContain(`squeue -h -a -t all -u "$(id -un)" -o '%A|`);
		expect(queueCommand()).not.toContain("json");
	});
});

describe("accounting", () => {
	test("reads what sacct 22.05 prints", () => {
		const text = [
			"1|RUNNING|0:0|3|1796059672|1796059672|Unknown|node1|gym|testbed|/e/a|b c",
			"2|CANCELLED by 1000|0:15|0|1796059672|Unknown|1796059680|None assigned|gym|testbed|/e/run",
			"4|FAILED|3:0|7|1796059672|1796059673|1796059680|node1|gym|testbed|/e/run",
			"4.batch|FAILED|3:0|7|1796059672|1796059673|1796059680|node1||testbed|",
		].join("\n");
		expect(parseAccounting(text, 0)).toEqual([
			{
				jobId: "1",
				cluster: "testbed",
				state: "RUNNING",
				cancelledBy: null,
				exitCode: 0,
				signal: null,
				elapsed: 3,
				submittedAt: 1_796_059_672,
				startedAt: 1_796_059_672,
				endedAt: null,
				nodeList: "node1",
				user: "gym",
				workDir: "/e/a|b c",
			},
			expect.objectContaining({
				jobId: "2",
				state: "CANCELLED",
				cancelledBy: "1000",
				signal: 15,
				startedAt: null,
				nodeList: null,
			}),
			expect.objectContaining({
				jobId: "4",
				state: "FAILED",
				exitCode: 3,
				signal: null,
				elapsed: 7,
				endedAt: 1_796_059_680,
			}),
		]);
	});

	test("a job whose end came before its submit has no directory yet", () => {
		const [row] = parseAccounting(
			"9|CANCELLED by 1000|0:0|0|1796059672|1796059672|1796059672|None assigned|gym|testbed|\n",
			0,
		);
		expect(row).toMatchObject({ jobId: "9", state: "CANCELLED", startedAt: null, workDir: "" });
	});

	test("of a requeued job the last record counts", () => {
		const record = (state: string) =>
			`7|${state}|0:0|3|1796059672|1796059672|1796059680|node1|gym|testbed|/e`;
		const rows = parseAccounting([record("PREEMPTED"), record("COMPLETED")].join("\n"), 0);
		expect(rows.map((row) => row.state)).toEqual(["COMPLETED"]);
	});

	test("always gives a start time, so that jobs of earlier days are found", () => {
		expect(accountingCommand("1,2")).toMatch(/ -S \d{4}-\d{2}-\d{2} -j 1,2 /);
	});
});
