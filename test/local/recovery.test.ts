/** Runs that failed, and runs that the state does not know. */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { ENDLESS, gymfile } from "./gymfiles.ts";
import { test, type User } from "./user.ts";

/** Fails once, after its first half. */
const TWICE = `echo half >>halves
[[ $(wc -l <halves) -ge 2 ]]
`;

const JOBS = "runs/.gym-local/jobs";

async function applied(user: User, benchmarks: Readonly<Record<string, string>>, status: string) {
	await user.write(gymfile({ benchmarks }));
	await user.ok(["apply", "--auto-approve"]);
	const [name] = Object.keys(benchmarks);
	return user.until(`lab/${name}`, status);
}

describe.concurrent("gym resume", () => {
	test("goes on in the same directory", async ({ user }) => {
		const failed = await applied(user, { halves: TWICE }, "failed");
		expect((await user.ok(["plan"])).stdout).toContain("gym resume lab/halves");
		expect((await user.ok(["resume", "halves", "--auto-approve"])).stdout).toContain(
			"lab/halves will be resumed",
		);
		const done = await user.until("lab/halves", "succeeded");
		expect(done).toMatchObject({ run_dir: failed.run_dir, segments: 2, job_id: "2" });
		expect(await readFile(join(done.run_dir, "halves", "halves"), "utf8")).toBe("half\nhalf\n");
		await user.ok(["plan", "-detailed-exitcode"]);
	});

	test("goes on with a cancelled run, and refuses what is live, done or changed", async ({ user }) => {
		await applied(user, { slow: ENDLESS }, "running");
		const refused = await user.gym(["resume", "slow", "--auto-approve"]);
		expect(refused.code, refused.text).toBe(4);
		expect(refused.stdout).toContain("nothing to resume");
		expect(refused.stderr).toMatch(/^1 error\. +exit 4\n$/);
		await user.ok(["cancel", "slow", "--auto-approve"]);
		await user.ok(["resume", "slow", "--auto-approve"]);
		await user.until("lab/slow", "running");
		await user.ok(["cancel", "slow", "--auto-approve"]);
		await user.write(gymfile({ benchmarks: { slow: "true\n" } }));
		const changed = await user.gym(["resume", "slow", "--auto-approve"]);
		expect(changed.code, changed.text).toBe(4);
		expect(changed.stdout).toContain("has changed since that run");
	});

	test("has to be a benchmark, which is said once and of what was typed", async ({ user }) => {
		await applied(user, { quick: "true\n" }, "succeeded");
		const typo = await user.gym(["resume", "lab/nope", "--auto-approve"]);
		expect(typo.code, typo.text).toBe(3);
		expect(typo.stderr).toMatch(
			/^error\[address-unknown\] {2}lab\/nope names no benchmark\n[\s\S]*\n1 error\. /,
		);
	});
});

describe.concurrent("a run that the state does not know", () => {
	test("is found after the state was deleted, live or done", async ({ user }) => {
		await applied(user, { slow: ENDLESS }, "running");
		await rm(join(user.folder, ".gym"), { recursive: true });
		const plan = await user.gym(["plan", "-detailed-exitcode"]);
		expect(plan.code, plan.text).toBe(2);
		expect(plan.stdout).toContain("# lab/slow will be adopted");
		expect(plan.stdout).toContain("=   ");
		await user.ok(["apply", "--auto-approve"]);
		expect((await user.status()).get("lab/slow")).toMatchObject({ status: "running", job_id: "1" });
		expect(await readdir(join(user.folder, JOBS))).toEqual(["1"]);
		await user.ok(["destroy", "--auto-approve"]);
	});

	test("is found after state rm, and what came of it is not run again", async ({ user }) => {
		const before = await applied(user, { quick: "true\n" }, "succeeded");
		expect((await user.ok(["state", "rm", "lab/quick"])).stdout).toContain("Forgot lab/quick");
		expect((await user.ok(["state", "list"])).stdout).toBe("");
		await user.write(gymfile({ benchmarks: { quick: "exit 0\n" } }));
		expect((await user.ok(["plan"])).stdout).toContain("# lab/quick will be submitted");
		await user.write(gymfile({ benchmarks: { quick: "true\n" } }));
		await user.ok(["apply", "--auto-approve"]);
		const after = await user.until("lab/quick", "succeeded");
		expect(after).toMatchObject({ run_dir: before.run_dir, job_id: "1" });
		await user.ok(["plan", "-detailed-exitcode"]);
	});

	test("is taken in by its directory", async ({ user }) => {
		const first = await applied(user, { quick: "true\n" }, "succeeded");
		await user.ok(["apply", "--auto-approve", "-replace=lab/quick"]);
		const second = await user.until("lab/quick", "succeeded");
		expect(second.run_dir).not.toBe(first.run_dir);
		expect((await user.ok(["adopt", first.run_dir])).stdout).toMatch(/lab\/quick +adopted/);
		expect((await user.status()).get("lab/quick")).toMatchObject({ run_dir: first.run_dir, job_id: "1" });
		const nothing = await user.gym(["adopt", user.folder]);
		expect(nothing.code, nothing.text).toBe(4);
		expect(nothing.stderr).toContain("no record");
	});

	test("does not hide a live one", async ({ user }) => {
		const first = await applied(user, { quick: "true\n" }, "succeeded");
		await applied(user, { quick: ENDLESS }, "running");
		const refused = await user.gym(["adopt", first.run_dir]);
		expect(refused.code, refused.text).toBe(4);
		expect(refused.stderr).toContain("lab/quick has a live run");
		await user.ok(["destroy", "--auto-approve"]);
	});
});
