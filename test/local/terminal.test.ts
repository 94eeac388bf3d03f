/** Pipes, terminals and several stacks. */
import { spawn } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { gymfile } from "./gymfiles.ts";
import { CLI, test, type User } from "./user.ts";

const QUICK = { benchmarks: { quick: "seq 20000" } };

/** Runs a line of bash in the user's folder, on a terminal of its own; `keys` are typed at the prompt. */
function onTerminal(user: User, line: string, keys = ""): Promise<{ code: number | null; text: string }> {
	const child = spawn("script", ["-qec", line, "/dev/null"], {
		cwd: user.folder,
		env: { PATH: process.env.PATH, HOME: user.folder, NO_COLOR: "1", SHELL: "/bin/bash" },
	});
	return new Promise((resolve) => {
		let text = "";
		child.stdout.on("data", (chunk: Buffer) => {
			if (!text.includes("accepted: ") && `${text}${chunk}`.includes("accepted: ")) {
				setTimeout(() => child.stdin.write(keys), 200);
			}
			text += chunk;
		});
		child.on("close", (code) => resolve({ code, text }));
	});
}

const gym = (args: string) => `'${process.execPath}' '${CLI}' ${args}`;

describe.concurrent("a terminal", () => {
	test("Ctrl-C at the question stops the command, and nothing is done", async ({ user }) => {
		await user.write(gymfile(QUICK));
		const { code, text } = await onTerminal(user, gym("apply"), "\x03");
		expect(code, text).toBe(130);
		expect(await readdir(user.folder)).not.toContain("runs");
		// The lock was given back.
		await user.ok(["apply", "--auto-approve"]);
		await user.until("lab/quick", "succeeded");
	});

	test("another answer than yes declines", async ({ user }) => {
		await user.write(gymfile(QUICK));
		const { code, text } = await onTerminal(user, gym("apply"), "y\r");
		expect(code, text).toBe(7);
	});

	test("what is refused anyway is not asked about", async ({ user }) => {
		await user.write(gymfile({ benchmarks: { slow: "sleep 600" } }));
		await user.ok(["apply", "--auto-approve"]);
		await user.write(gymfile({ benchmarks: { slow: "sleep 601" } }));
		const { code, text } = await onTerminal(user, gym("apply"), "yes\r");
		expect(code, text).toBe(4);
		expect(text).toContain("live-chain");
		expect(text).not.toContain("accepted: ");
		await user.ok(["destroy", "--auto-approve"]);
	});

	test("with -json the question is not among the events", async ({ user }) => {
		await user.write(gymfile(QUICK));
		// Standard error is a file, so the terminal shows what is on stdout.
		const { code, text } = await onTerminal(
			user,
			`${gym("apply -json")} 2>asked </dev/tty & sleep 3; kill -INT $!; wait $!`,
		);
		expect(code, text).toBe(130);
		const lines = text.split("\r\n").filter((line) => line !== "");
		expect(lines.length).toBeGreaterThan(2);
		for (const line of lines) expect(() => JSON.parse(line), line).not.toThrow();
	});
});

describe.concurrent("a pipe", () => {
	test("whose reader goes away is no crash", async ({ user }) => {
		await user.write(gymfile(QUICK));
		await user.ok(["apply", "--auto-approve"]);
		await user.until("lab/quick", "succeeded");
		const { text } = await onTerminal(
			user,
			`${gym("logs -n 20000 lab/quick")} 2>errors | head -n 1; cat errors`,
		);
		expect(text.trim()).toBe("driver | 1");
	});

	test("of log lines as events", async ({ user }) => {
		await user.write(gymfile(QUICK));
		await user.ok(["apply", "--auto-approve"]);
		await user.until("lab/quick", "succeeded");
		const { stdout } = await user.ok(["logs", "-json", "-n", "2", "--source", "driver", "lab/quick"]);
		const events = stdout
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line) as Record<string, unknown>);
		expect(events.slice(1)).toMatchObject([
			{ type: "log", addr: "lab/quick", source: "driver", line: "19999" },
			{ type: "log", line: "20000" },
		]);
	});
});

describe.concurrent("adopt", () => {
	test("takes a path from where the command works", async ({ user }) => {
		await user.write(gymfile(QUICK));
		await user.ok(["apply", "--auto-approve"]);
		const { run_dir } = await user.until("lab/quick", "succeeded");
		const relative = run_dir.slice(user.folder.length + 1);
		for (const path of [`${relative}/`, `${relative}/gym-job.json`]) {
			const { code, text } = await onTerminal(
				user,
				`cd / && ${gym(`adopt -chdir '${user.folder}' ${path}`)}`,
			);
			expect(code, text).toBe(0);
			expect(text).toMatch(/lab\/quick +adopted/);
		}
	});

	test("wants an absolute path where another machine is meant", async ({ user }) => {
		const slurm = `new SlurmCompute(stack, "here", { account: "a", hostname: "login.invalid" })`;
		const text = gymfile({ ...QUICK, outputPath: "/evals" })
			.replace(/new LocalCompute\(.*\)/, slurm)
			.replace("App,", "App, SlurmCompute,");
		await user.write(text);
		const { code, stderr } = await user.gym(["adopt", "runs/gym-job-x"]);
		expect(code, stderr).toBe(3);
		expect(stderr).toContain("runs/gym-job-x is not absolute");
	});
});

describe.concurrent("one of several stacks that fails", () => {
	test("keeps no other from being shown or cancelled", async ({ user }) => {
		await user.write(gymfile({ name: "a", ...QUICK }, { name: "b", benchmarks: { slow: "sleep 600" } }));
		await user.ok(["apply", "--auto-approve"]);
		await user.until("b/slow", "running");
		await writeFile(join(user.folder, ".gym/a/state.9.json"), "broken");
		const seen = await user.gym(["status"]);
		expect(seen.code, seen.text).toBe(1);
		expect(seen.stdout).toMatch(/^b +slow +running/m);
		expect(seen.stderr).toContain("state-unreadable");
		const ended = await user.gym(["destroy", "--auto-approve"]);
		expect(ended.code, ended.text).toBe(1);
		expect(ended.stdout).toMatch(/b\/slow +cancelled/);
	});

	test("is told of with every other's errors by validate", async ({ user }) => {
		const bad = { walltime: "5", benchmarks: { long: `: ${"x".repeat(4 * 1024 * 1024)}` } };
		await user.write(gymfile({ name: "a", ...bad }, { name: "b", ...bad }));
		const { code, stderr } = await user.gym(["validate"]);
		expect(code).toBe(4);
		expect(stderr.match(/command-long/g)).toHaveLength(2);
	});
});
