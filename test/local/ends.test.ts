/** The ways in which a job can end. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { ENDLESS, gymfile } from "./gymfiles.ts";
import { allGone, freePort, test, type User } from "./user.ts";

/** Applies a stack with one endless benchmark and waits until it has begun. @returns pid of its supervisor, and its directory */
async function begin(user: User, walltime?: string) {
	await user.write(gymfile({ benchmarks: { slow: ENDLESS }, ...(walltime ? { walltime } : {}) }));
	await user.ok(["apply", "--auto-approve"]);
	const { run_dir } = (await user.status()).get("lab/slow")!;
	const jobDir = join(run_dir, "slow");
	await user.text(`${jobDir.slice(user.folder.length + 1)}/begun`);
	const owner = await readFile(join(user.folder, "runs/.gym-local/jobs/1/supervisor.json"), "utf8");
	return { supervisor: (JSON.parse(owner) as { pid: number }).pid, jobDir };
}

describe.concurrent("a job", () => {
	test("whose driver fails", async ({ user }) => {
		await user.write(gymfile({ benchmarks: { bad: "echo no luck >&2\nexit 9\n" } }));
		await user.ok(["apply", "--auto-approve"]);
		expect((await user.until("lab/bad", "failed")).note).toContain("9");
		expect((await user.ok(["plan"])).stdout).toMatch(/^! lab\/bad {2}failed/m);
		expect((await user.ok(["logs", "bad"])).stdout).toContain("driver | no luck");
	});

	test("whose service dies", async ({ user }) => {
		const policy = `{ model: "acme/adder-1b", port: ${await freePort()}, preCommand: "exit 3" }`;
		await user.write(gymfile({ policy, benchmarks: { sums: "true" } }));
		await user.ok(["apply", "--auto-approve"]);
		expect((await user.until("lab/sums", "failed")).note).toContain("policy");
	});

	test("whose service answers, but never well", async ({ user }) => {
		const port = await freePort();
		const answers = `require("http").createServer((_, reply) => reply.writeHead(503).end()).listen(${port}, "127.0.0.1")`;
		const command = JSON.stringify(`exec ${process.execPath} -e '${answers}'`);
		const policy = `{ model: "acme/adder-1b", port: ${port}, preCommand: ${command}, healthCheck: { timeoutSeconds: 1 } }`;
		await user.write(gymfile({ policy, benchmarks: { sums: "echo ran >ran" } }));
		await user.ok(["apply", "--auto-approve"]);
		const { note, run_dir } = await user.until("lab/sums", "failed");
		expect(note).toContain("policy");
		await expect(readFile(join(run_dir, "sums", "ran"))).rejects.toThrow("ENOENT");
	});

	test("at its time limit", async ({ user }) => {
		await begin(user, "00:00:03");
		await user.until("lab/slow", "timeout");
		expect((await user.ok(["plan"])).stdout).toMatch(/^! lab\/slow {2}timeout/m);
	});

	test("that is cancelled, while another one waits", async ({ user }) => {
		await user.write(gymfile({ benchmarks: { slow: ENDLESS, next: "true" } }));
		await user.ok(["apply", "--auto-approve"]);
		await user.until("lab/slow", "running");
		expect((await user.status()).get("lab/next")).toMatchObject({ status: "pending" });
		expect((await user.ok(["cancel", "lab/slow", "--auto-approve"])).stdout).toMatch(
			/lab\/slow +cancelled +job 1/,
		);
		await user.until("lab/slow", "cancelled");
		await user.until("lab/next", "succeeded");
	});

	test("that is destroyed with its stack", async ({ user }) => {
		const { jobDir } = await begin(user);
		expect((await user.gym(["destroy"])).code).toBe(3);
		expect((await user.ok(["destroy", "--auto-approve"])).stdout).toMatch(/lab\/slow +cancelled +job 1/);
		await allGone(user);
		await user.until("lab/slow", "cancelled");
		expect(await readFile(join(jobDir, "begun"), "utf8")).toBe("begun\n");
		expect((await user.ok(["destroy", "--auto-approve"])).stderr).toContain("Nothing of lab is live");
	});

	test("by itself leaves nothing to destroy", async ({ user }) => {
		await user.write(gymfile({ benchmarks: { quick: "true" } }));
		await user.ok(["apply", "--auto-approve"]);
		await user.until("lab/quick", "succeeded");
		expect(await user.ok(["destroy", "--auto-approve"])).toMatchObject({
			stdout: "",
			stderr: "Nothing of lab is live.\n",
		});
	});

	test.for([
		["cancel lab/slow", "cancelled"],
		["destroy", "cancelled"],
		["apply", "node-fail"],
		["apply -replace=lab/slow", "running"],
		["resume lab/slow", "running"],
	] as const)("whose supervisor is killed, then gym %s", async ([command, status], { user }) => {
		const { supervisor, jobDir } = await begin(user);
		process.kill(supervisor, "SIGKILL");
		expect(await user.until("lab/slow", "node-fail")).toMatchObject({ run_dir: join(jobDir, "..") });
		expect((await user.ok(["plan"])).stdout).toMatch(/^! lab\/slow {2}node-fail/m);
		const orphans = (await user.processes()).filter((pid) => pid !== supervisor);
		expect(orphans).not.toEqual([]);
		await user.ok([...command.split(" "), "--auto-approve"]);
		await user.until("lab/slow", status);
		expect((await user.processes()).filter((pid) => orphans.includes(pid))).toEqual([]);
		if (status === "running") await user.ok(["cancel", "lab/slow", "--auto-approve"]);
	});
});
