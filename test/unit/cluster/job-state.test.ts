import { describe, expect, test } from "vitest";
import { jobState } from "../../../src/cluster/job-state.ts";

describe("jobState", () => {
	test.each([
		["PENDING", "pending"],
		["PD", "pending"],
		["CONFIGURING", "pending"],
		["CF", "pending"],
		["REQUEUED", "pending"],
		["REQUEUE_HOLD", "held"],
		["SPECIAL_EXIT", "held"],
		["RUNNING", "running"],
		["R", "running"],
		["SUSPENDED", "running"],
		["S", "running"],
		["STOPPED", "running"],
		["COMPLETING", "completing"],
		["CG", "completing"],
	])("%s is %s, live", (word, status) => {
		expect(jobState(word)).toMatchObject({ status, live: true, final: false });
	});

	test.each([
		["COMPLETED", "succeeded"],
		["CD", "succeeded"],
		["COMPLETED+", "succeeded"],
		["CANCELLED", "cancelled"],
		["CA", "cancelled"],
		["CANCELLED+", "cancelled"],
		["CANCELLED by 1000", "cancelled"],
		["FAILED", "failed"],
		["F", "failed"],
		["OUT_OF_MEMORY", "failed"],
		["OUT_OF_ME+", "failed"],
		["OOM", "failed"],
		["DEADLINE", "failed"],
		["TIMEOUT", "timeout"],
		["TO", "timeout"],
		["PREEMPTED", "preempted"],
		["PR", "preempted"],
		["NODE_FAIL", "node-fail"],
		["NF", "node-fail"],
		["NODE_FAIL+", "node-fail"],
		["BOOT_FAIL", "node-fail"],
		["BF", "node-fail"],
	])("%s is %s, final", (word, status) => {
		expect(jobState(word)).toMatchObject({ status, live: false, final: true });
	});

	test("names the long form", () => {
		expect(jobState("OUT_OF_ME+").name).toBe("OUT_OF_MEMORY");
		expect(jobState("CANCELLED by 1000").name).toBe("CANCELLED");
		expect(jobState(" to ").name).toBe("TIMEOUT");
	});

	test.each(["JobHeldUser", "JobHeldAdmin"])("pending with reason %s is held", (reason) => {
		expect(jobState("PENDING", reason).status).toBe("held");
	});

	test("a reason changes nothing else", () => {
		expect(jobState("PENDING", "Resources").status).toBe("pending");
		expect(jobState("CANCELLED", "JobHeldUser").status).toBe("cancelled");
	});

	test.each(["", "NEW_STATE", "+", "R+", "RE+", "COMPLETE", "UNKNOWN"])("%j is honestly unknown", (word) => {
		expect(jobState(word)).toMatchObject({ status: "unknown", live: true, final: false });
	});
});
