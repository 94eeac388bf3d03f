import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { wrapScript } from "../../../src/cluster/transport/envelope.ts";
import { localTransport } from "../../../src/cluster/transport/local.ts";
import { problemOf, tempFolder, transportIo } from "./transport-io.ts";

const HOSTILE = `'"\`$(echo no)\${x}\\ \t#!&|;<>(){}[]*?~\r\n%s é 漢 😀 EOF\n}\n'`;

describe("local transport", () => {
	test("gives back exit code and both streams, unchanged", async () => {
		const answer = await localTransport(transportIo()).run("look", "printf 'a\\n\\n'; printf b >&2; exit 7");
		expect(answer).toEqual({ code: 7, stdout: "a\n\n", stderr: "b" });
	});

	test("output without a newline at its end gets none", async () => {
		const answer = await localTransport(transportIo()).run("look", "printf x");
		expect(answer).toEqual({ code: 0, stdout: "x", stderr: "" });
	});

	test.each(["", "# only a comment", "cat <<EOF\nx\nEOF"])("runs any complete script: %j", async (script) => {
		expect((await localTransport(transportIo()).run("look", script)).code).toBe(0);
	});

	test("passes every byte of a script on", async () => {
		const quoted = `'${HOSTILE.replaceAll("'", `'\\''`)}'`;
		const answer = await localTransport(transportIo()).run("look", `printf '%s' ${quoted}`);
		expect(answer.stdout).toBe(HOSTILE);
	});

	test("refuses NUL, which bash would drop", async () => {
		const problem = await problemOf(localTransport(transportIo()).run("look", "echo a\0b"));
		expect(problem).toMatchObject({ code: "nul-in-script", exit: "invalid" });
	});

	test("runs nothing of a script that does not parse", async () => {
		const answer = await localTransport(transportIo()).run("look", "echo first\nif true; then");
		expect(answer.code).not.toBe(0);
		expect(answer.stdout).toBe("");
		expect(answer.stderr).toContain("syntax error");
	});

	test("reports a script that was killed, by signal, without words of our own", async () => {
		const answer = await localTransport(transportIo()).run("look", "echo before; kill -KILL $$");
		expect(answer).toEqual({ code: 137, stdout: "before\n", stderr: "" });
	});

	test("gives the script an empty stdin and a session of its own", async () => {
		const answer = await localTransport(transportIo()).run("look", "cat; cut -d' ' -f6 /proc/$$/stat");
		const ours = (await readFile("/proc/self/stat", "utf8")).split(") ")[1]!.split(" ")[3];
		expect(answer.stdout).toMatch(/^\d+\n$/);
		expect(answer.stdout.trim()).not.toBe(ours);
	});

	test("drops what rc files print before the script", async () => {
		const folder = await tempFolder();
		execFileSync("bash", [
			"-c",
			`echo 'echo noise; echo noise >&2; printf "no newline"' >${join(folder, "rc")}`,
		]);
		const io = transportIo({ env: { ...process.env, BASH_ENV: join(folder, "rc") } });
		expect(await localTransport(io).run("look", "echo id")).toEqual({ code: 0, stdout: "id\n", stderr: "" });
	});

	test("runs as a login shell when asked", async () => {
		const folder = await tempFolder();
		execFileSync("bash", [
			"-c",
			`echo 'export FROM_PROFILE=yes; echo welcome' >${join(folder, ".bash_profile")}`,
		]);
		const transport = localTransport(transportIo({ env: { ...process.env, HOME: folder } }));
		const script = 'echo "${FROM_PROFILE-no}"';
		expect((await transport.run("look", script)).stdout).toBe("no\n");
		expect((await transport.run("look", script, { login: true })).stdout).toBe("yes\n");
	});

	test("does not wait for what the script left in the background", async () => {
		const answer = await localTransport(transportIo()).run("look", "sleep 600 & echo $!");
		process.kill(Number(answer.stdout), "SIGTERM");
		expect(answer.code).toBe(0);
	});

	test("a time limit makes the exchange lost; the script goes on", async () => {
		const folder = await tempFolder();
		const script = `trap '' HUP PIPE; read -t 600 <>${join(folder, "go")} x; echo "$x" >${join(folder, "done")}`;
		execFileSync("mkfifo", [join(folder, "go")]);
		const problem = await problemOf(localTransport(transportIo()).run("submit", script, { timeoutMs: 500 }));
		expect(problem).toMatchObject({ code: "exchange-lost", exit: "unreachable" });
		expect(problem.message).toContain('"submit"');
		execFileSync("bash", ["-c", `echo finished >${join(folder, "go")}`]);
		await expect
			.poll(() => readFile(join(folder, "done"), "utf8").catch(() => ""), { timeout: 20_000 })
			.toBe("finished\n");
	});

	test("an answer above the limit is refused", async () => {
		const run = localTransport(transportIo()).run("logs", "head -c 67108900 /dev/zero");
		expect(await problemOf(run)).toMatchObject({ code: "output-too-large", exit: "failure" });
	});

	test("no bash on PATH", async () => {
		const run = localTransport(transportIo({ env: { PATH: "/nonexistent" } })).run("look", "true");
		expect(await problemOf(run)).toMatchObject({ code: "shell-missing", exit: "unreachable" });
	});

	test("passes its points, the second only with an answer", async () => {
		const reached: string[] = [];
		const points = { reach: async (name: string) => void reached.push(name) };
		const transport = localTransport(transportIo({ points }));
		await transport.run("submit", "exit 1");
		await problemOf(transport.run("look", "sleep 3", { timeoutMs: 100 }));
		expect(reached).toEqual(["exchange.submit.before", "exchange.submit.after", "exchange.look.before"]);
	});
});

test("a script whose sender died runs whole or not at all", async () => {
	const script = "echo one\nif true; then\n  { echo two; }\nfi\ncat <<'X'\n}\nX\nf() {\n  echo three\n}\nf";
	const text = wrapScript(script, "0123456789abcdef");
	const whole = execFileSync("bash", ["-s"], {
		input: text,
		encoding: "utf8",
		stdio: ["pipe", "pipe", "ignore"],
	});
	expect(whole).toContain("one\ntwo\n}\nthree\n");
	for (let length = text.indexOf("\n") + 1; length < text.length - 2; length++) {
		const input = `${text.slice(0, length)}`;
		const said = execFileSync("bash", ["-s"], { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });
		expect(said, `cut at ${length}`).not.toMatch(/one|two|three/);
	}
});
