/** A gymfile's code runs inside the program, and can neither end, silence nor garble it. */
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { gymfile } from "./gymfiles.ts";
import { test, type User } from "./user.ts";

const STACK = { benchmarks: { quick: "echo" } };
const LINES = gymfile(STACK).split("\n").length - 1;

/** A gymfile with `code` before its export, on the line `LINES`. */
const withCode = (code: string) => gymfile(STACK).replace("export default", `${code}\nexport default`);

async function synth(user: User, code: string) {
	await user.write(withCode(code));
	return user.gym(["synth"]);
}

describe.concurrent("what goes to stdout", () => {
	test("is not among the YAML and the events", async ({ user }) => {
		await user.write(gymfile(STACK));
		const { stdout } = await user.ok(["synth"]);
		const talks = `console.log("hello"); process.stdout.write("there\\n"); process.on("exit", () => console.log("bye"));`;
		await user.write(withCode(`${talks} await null; console.info("late");`));
		const again = await user.ok(["synth"]);
		expect(again.stdout).toBe(stdout);
		expect(again.stderr).toBe("hello\nthere\nlate\nbye\n");
		const events = (await user.ok(["synth", "-json"])).stdout.trimEnd().split("\n");
		expect(events.map((line) => JSON.parse(line))).toMatchObject([
			{ type: "version" },
			{ type: "document", stack: "lab", yaml: stdout, document: { job: {} }, file: null },
		]);
	});
});

describe.concurrent("an ordinary error", () => {
	const WAIT = "await new Promise((done) => setTimeout(done, 20_000));";
	const cases = [
		["a rejection that nobody handles", `Promise.reject(new TypeError("lost"));`, "gymfile-threw", "lost"],
		[
			"a throw while it loads",
			`setTimeout(() => { throw new Error("x"); }, 1); ${WAIT}`,
			"gymfile-threw",
			"x",
		],
		["an exit", "process.exit(0);", "gymfile-exit", "process.exit(0)"],
		["an exit later", `setTimeout(() => process.exit(7), 1); ${WAIT}`, "gymfile-exit", "process.exit(7)"],
		[
			"a getter that throws",
			`new EvalStack(app, "b", { get outputPath(): string { throw new Error("none today"); } });`,
			"gymfile-threw",
			"none today",
		],
		[
			"a proxy that throws",
			`new EvalStack(app, "b", new Proxy({ outputPath: "/x" }, { get() { throw new Error("trap"); } }));`,
			"gymfile-threw",
			"trap",
		],
	] as const;
	for (const [name, code, problem, words] of cases) {
		test(`ends ${name}, with its line`, async ({ user }) => {
			const { code: exit, stdout, stderr, text } = await synth(user, code);
			expect(exit, text).toBe(3);
			expect(stdout).toBe("");
			expect(stderr).toContain(`error[${problem}]`);
			expect(stderr).toContain(words);
			expect(stderr).toContain(`gymfile.ts:${LINES}`);
			expect(stderr).not.toMatch(/^ +at /m);
		});
	}

	test("ends a rejection without a reason", async ({ user }) => {
		const { code, stderr } = await synth(user, "Promise.reject();");
		expect(code).toBe(3);
		expect(stderr).toContain("error[gymfile-threw]");
	});

	test("ends a wait for nothing", async ({ user }) => {
		const { code, stderr } = await synth(user, "await new Promise(() => undefined);");
		expect(code).toBe(3);
		expect(stderr).toContain("error[gymfile-unsettled]");
	});

	test("shows its stack trace with --debug", async ({ user }) => {
		await user.write(withCode(`throw new Error("x");`));
		expect((await user.gym(["synth", "--debug"])).stderr).toMatch(/^ +at .*gymfile\.ts/m);
	});
});

describe.concurrent("the command", () => {
	test("ends when its work is over, whatever is open", async ({ user }) => {
		await user.write(gymfile(STACK));
		const { stdout } = await user.ok(["synth"]);
		await user.write(
			withCode(
				`setInterval(() => undefined, 1000); (await import("node:net")).createServer().listen(0, "127.0.0.1");`,
			),
		);
		expect((await user.ok(["synth"])).stdout).toBe(stdout);
	});

	test("goes on in its own folder", async ({ user }) => {
		await user.write(withCode(`process.chdir("/");`));
		await user.ok(["synth", "-o", "out"]);
		expect(await readFile(join(user.folder, "out/lab.yaml"), "utf8")).toContain("quick");
	});

	test("counts a relative output path from the real folder", async ({ user }) => {
		await user.write(gymfile(STACK));
		await user.ok(["apply", "--auto-approve"]);
		await user.until("lab/quick", "succeeded");
		await symlink(user.folder, join(user.folder, "link"));
		for (const way of [
			["-chdir=link", "plan"],
			["plan", "--gymfile", "link/gymfile.ts"],
		]) {
			const { stdout } = await user.ok([...way, "-detailed-exitcode"]);
			expect(stdout).toContain("No changes. lab/quick");
		}
	});
});

describe.concurrent("addresses", () => {
	test("may be globs; a cancel of nothing live writes nothing; what was contacted is told", async ({
		user,
	}) => {
		await user.write(gymfile({ benchmarks: { one: "echo 1", two: "echo 2" } }));
		await user.ok(["apply", "--auto-approve"]);
		await user.until("lab/one", "succeeded");
		await user.until("lab/two", "succeeded");
		expect([...(await user.status(["lab/t*"])).keys()]).toEqual(["lab/two"]);
		const logs = await user.ok(["logs", "lab/*", "-json"]);
		expect(logs.stdout).toContain('"addr":"lab/one"');
		expect(logs.stdout).toContain('"addr":"lab/two"');
		expect(await user.ok(["logs", "one", "-n", "0"])).toMatchObject({ stdout: "", stderr: "" });

		const serial = async () => JSON.parse((await user.ok(["state", "show", "lab"])).stdout).serial as number;
		await user.ok(["cancel", "lab/*", "--auto-approve"]);
		const before = await serial();
		await user.ok(["cancel", "o*", "lab/one", "--auto-approve"]);
		expect(await serial()).toBe(before);

		const { text } = await user.gym(["adopt", "."]);
		expect(text).toContain("no-record");
		expect(text).not.toContain("Nothing was contacted");
		expect((await user.gym(["cancel", "lab/x*", "lab/y", "--auto-approve"])).stderr).toMatch(
			/lab\/x\*[\s\S]*lab\/y[\s\S]*2 errors\. Nothing was contacted\./,
		);
	});
});
