import { describe, expect, test } from "vitest";
import { parseEndRecord } from "../../../src/chain/end-record.ts";
import { type JobEvidence, type RunEvidence, runStatus } from "../../../src/chain/status.ts";

const end = (text: string) => ({ end: parseEndRecord(text) });
const queue = (state: string, reason: string | null = null, nodeList: string | null = null) => ({
	queue: { state, reason, nodeList },
});
const accounting = (state: string, more: Partial<NonNullable<JobEvidence["accounting"]>> = {}) => ({
	accounting: { state, cancelledBy: null, exitCode: 0, signal: null, startedAt: 100, ...more },
});

function job(...parts: readonly Partial<JobEvidence>[]): JobEvidence {
	const nothing: JobEvidence = {
		jobId: "17",
		end: null,
		queue: null,
		accounting: null,
		heard: null,
		journal: null,
	};
	return Object.assign(nothing, ...parts);
}

function judge(jobs: readonly JobEvidence[], more: Partial<RunEvidence> = {}) {
	return runStatus({
		before: "running",
		jobs,
		queueHeard: true,
		accountingHeard: true,
		exchangeFinished: true,
		error: null,
		stopMarked: false,
		chain: null,
		...more,
	});
}

describe("succeeded", () => {
	test("when the driver ended 0, whatever Slurm says", () => {
		for (const seen of [{}, accounting("FAILED", { exitCode: 1 }), accounting("TIMEOUT"), queue("RUNNING")]) {
			expect(judge([job(end("exit=0 why=finished at=5 name="), seen)])).toEqual({
				status: "succeeded",
				note: null,
			});
		}
	});

	test("when an earlier segment did, though its successor was cancelled", () => {
		const jobs = [
			job(end("exit=0 why=finished at=5 name=")),
			job({ jobId: "18" }, accounting("CANCELLED", { startedAt: null })),
		];
		expect(judge(jobs).status).toBe("succeeded");
	});

	test("when Slurm says COMPLETED and there is no end record, which is said", () => {
		expect(judge([job(accounting("COMPLETED"))])).toEqual({ status: "succeeded", note: "no end record" });
		expect(judge([job(queue("COMPLETED"))]).status).toBe("succeeded");
	});

	test("never when a record contradicts, or the exit code", () => {
		expect(judge([job(accounting("COMPLETED"), end("exit=0 why=stopped at=5 name="))]).status).toBe(
			"cancelled",
		);
		expect(judge([job(accounting("COMPLETED"), end("exit=0 why=over at=5 name="))]).status).toBe("stopped");
		expect(judge([job(accounting("COMPLETED", { exitCode: 3 }))]).status).toBe("unknown");
		const jobs = [job(end("exit=1 why=driver at=5 name=")), job({ jobId: "18" }, accounting("COMPLETED"))];
		expect(judge(jobs).status).toBe("unknown");
	});

	test("never when the record is cut off", () => {
		expect(judge([job(end("exit=0 wh"), accounting("FAILED", { exitCode: 1 }))]).status).toBe("failed");
	});
});

describe("live", () => {
	test.each([
		["PENDING", "Priority", "pending", "Priority"],
		["PENDING", "JobHeldUser", "held", "held: not released yet"],
		["CONFIGURING", null, "pending", null],
		["RUNNING", null, "running", "on node17"],
		["SUSPENDED", null, "running", "on node17"],
		["COMPLETING", null, "completing", "on node17"],
	] as const)("%s (%s) is %s", (state, reason, status, note) => {
		expect(judge([job(queue(state, reason, "node17"))])).toEqual({ status, note });
	});

	test("a running segment counts more than its waiting successor", () => {
		const jobs = [job(queue("RUNNING")), job({ jobId: "18" }, queue("PENDING", "Dependency"))];
		expect(judge(jobs).status).toBe("running");
	});

	test("a waiting successor keeps the run alive after a failed segment", () => {
		const jobs = [
			job(end("exit=85 why=timeout at=5 name=")),
			job({ jobId: "18" }, queue("PENDING", "Priority")),
		];
		expect(judge(jobs).status).toBe("pending");
	});

	test("a segment that wrote its end but is still listed is completing", () => {
		expect(judge([job(queue("RUNNING"), end("exit=1 why=driver at=5 name="))])).toEqual({
			status: "completing",
			note: "driver exited 1",
		});
	});

	test("the queue is current, accounting lags", () => {
		expect(judge([job(queue("RUNNING"), accounting("PENDING"))]).status).toBe("running");
		expect(judge([job(queue("CANCELLED"), accounting("RUNNING"))]).status).toBe("cancelled");
	});

	test("a word that nobody knows is not taken for an end", () => {
		expect(judge([job(queue("HIBERNATING"))])).toEqual({
			status: "running",
			note: "the scheduler says HIBERNATING",
		});
	});
});

describe("ended", () => {
	test.each([
		["exit=3 why=driver at=5 name=", "failed", "driver exited 3"],
		["exit=1 why=service at=5 name=policy", "failed", "service policy died (logs/policy-17.log)"],
		[
			"exit=1 why=unhealthy at=5 name=judge",
			"failed",
			"service judge did not get healthy (logs/judge-17.log)",
		],
		["exit=85 why=timeout at=5 name=", "timeout", "time limit reached, the driver was asked to stop"],
		["exit=1 why=retries at=5 name=", "stopped", "all retries are spent"],
		["exit=0 why=cap at=5 name=", "stopped", "max_walltime is used up"],
		["exit=7 why=finished at=5 name=", "failed", "driver exited 7"],
		["exit=74 why=disk at=5 name=", "failed", "disk (exit 74)"],
	])("%s is %s", (record, status, note) => {
		expect(judge([job(end(record), accounting("FAILED", { exitCode: 1 }))])).toEqual({ status, note });
	});

	test.each([
		["FAILED", { exitCode: 2 }, "failed", "the scheduler says FAILED, exit 2, no end record"],
		[
			"OUT_OF_MEMORY",
			{ exitCode: 0, signal: 9 },
			"failed",
			"the scheduler says OUT_OF_MEMORY, signal 9, no end record",
		],
		["TIMEOUT", {}, "timeout", "time limit reached"],
		["PREEMPTED", {}, "preempted", "preempted by other jobs"],
		["NODE_FAIL", {}, "node-fail", "a node failed"],
		["BOOT_FAIL", {}, "node-fail", "a node failed"],
	] as const)("%s without an end record is told from Slurm", (state, more, status, note) => {
		expect(judge([job(accounting(state, more))])).toEqual({ status, note });
	});

	test("who ended it from outside is what Slurm says", () => {
		const killed = end("exit=143 why=terminated at=5 name=");
		expect(judge([job(killed, accounting("PREEMPTED"))]).status).toBe("preempted");
		expect(judge([job(killed, accounting("TIMEOUT"))]).status).toBe("timeout");
		expect(judge([job(end("exit=143 why=driver at=5 name="), accounting("NODE_FAIL"))]).status).toBe(
			"node-fail",
		);
		expect(judge([job(killed)])).toEqual({ status: "cancelled", note: "ended from outside" });
	});

	test("cancelled by hand names who, cancelled with us says so", () => {
		const scancelled = job(
			end("exit=143 why=terminated at=5 name="),
			accounting("CANCELLED", { cancelledBy: "1002" }),
		);
		expect(judge([scancelled])).toEqual({
			status: "cancelled",
			note: "cancelled by someone (uid 1002), not with gym cancel",
		});
		expect(judge([job(queue("CANCELLED"))]).note).toBe("cancelled by someone");
		expect(judge([scancelled], { stopMarked: true }).note).toBe("cancelled with gym cancel");
	});

	test("a successor that only saw the end says nothing about the run", () => {
		const cancelled = job(accounting("CANCELLED", { cancelledBy: "1002" }));
		const looked = job({ jobId: "18" }, end("exit=0 why=over at=6 name="), accounting("COMPLETED"));
		expect(judge([cancelled, looked]).status).toBe("cancelled");
		const failed = job(end("exit=1 why=driver at=5 name="));
		const neverRan = job({ jobId: "18" }, accounting("CANCELLED", { startedAt: null }));
		expect(judge([failed, neverRan])).toEqual({ status: "failed", note: "driver exited 1" });
		const takenOut = job(
			{ jobId: "18" },
			{ journal: { beganAt: null, ran: false, queuedByChain: true } },
			accounting("CANCELLED", { startedAt: null, cancelledBy: "1000" }),
		);
		expect(judge([failed, takenOut])).toEqual({
			status: "cancelled",
			note: "cancelled by someone (uid 1000), not with gym cancel",
		});
	});
});

describe("not known", () => {
	test("gone from queue and accounting without an end record is unknown", () => {
		expect(judge([job()])).toEqual({
			status: "unknown",
			note: "job 17 is in neither queue nor accounting and left no end record",
		});
		expect(judge([job()], { accountingHeard: false }).note).toBe(
			"job 17 is no longer in the queue and left no end record",
		);
	});

	test("a silent queue is never taken for an end", () => {
		expect(judge([job()], { queueHeard: false })).toEqual({
			status: "running",
			note: "the queue could not be read",
		});
	});
});

describe("without a job", () => {
	test("sbatch's words make it refused", () => {
		expect(judge([], { before: "submitting", error: "sbatch: error: no" })).toEqual({
			status: "refused",
			note: "sbatch: error: no",
		});
	});

	test("a submission that has not come to its end stays what it was", () => {
		expect(judge([], { before: "submitting", exchangeFinished: false }).status).toBe("submitting");
		expect(judge([], { before: "submitting", exchangeFinished: true }).status).toBe("refused");
	});

	test("a job that turns up after all counts, whatever the exchange said", () => {
		expect(
			judge([job(queue("PENDING", "JobHeldUser"))], { before: "submitting", exchangeFinished: false }).status,
		).toBe("held");
	});
});

describe("end records", () => {
	test("are read with all their fields", () => {
		expect(parseEndRecord("exit=1 why=service at=1764510000 elapsed=61 name=policy\n")).toEqual({
			exit: 1,
			why: "service",
			at: 1764510000,
			elapsed: 61,
			collectorDied: false,
			name: "policy",
		});
		expect(parseEndRecord("exit=0 why=finished")).toEqual({
			exit: 0,
			why: "finished",
			at: null,
			elapsed: null,
			collectorDied: false,
			name: null,
		});
	});

	test.each([
		["ok", null],
		["died", "the collector of job 17 died: telemetry is incomplete"],
	])("of a job with a collector that is %s", (word, note) => {
		const record = end(`exit=0 why=finished at=5 elapsed=61 collector=${word} name=`);
		expect(record.end).toMatchObject({ exit: 0, elapsed: 61, collectorDied: word === "died" });
		expect(judge([job(record)])).toEqual({ status: "succeeded", note });
	});

	test.each(["", "exit=", "exit=0", "why=finished", "exit=x why=finished", "exit=0 why="])(
		"%j is none",
		(text) => {
			expect(parseEndRecord(text)).toBeNull();
		},
	);
});

test("the scheduler knows why a script that only got TERM ended", () => {
	const terminated = end("exit=143 why=terminated at=5 name=");
	const judged = (state: string) => judge([job(terminated, queue(state))]);
	expect(judged("OUT_OF_MEMORY")).toMatchObject({
		status: "failed",
		note: expect.stringContaining("OUT_OF_MEMORY"),
	});
	expect(judged("DEADLINE")).toMatchObject({ status: "failed", note: expect.stringContaining("DEADLINE") });
	expect(judged("CANCELLED").status).toBe("cancelled");
	expect(judged("PREEMPTED").status).toBe("preempted");
});
