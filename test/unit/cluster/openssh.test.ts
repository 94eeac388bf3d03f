import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeControlFolder, removeControlFolder } from "../../../src/cluster/transport/control-folder.ts";
import { opensshTransport } from "../../../src/cluster/transport/openssh.ts";
import { fakeSsh, problemOf, tempFolder, transportIo } from "./transport-io.ts";

const host = (hostname = "login.lab.example", sshArgs: readonly string[] = []) => ({ hostname, sshArgs });

function optionsOf(call: readonly string[]): readonly string[] {
	return call.filter((_, index) => call[index - 1] === "-o");
}

describe("an exchange over ssh", () => {
	test("is `bash -s` without a tty, in batch mode, with our own master", async () => {
		const ssh = await fakeSsh("run");
		const transport = opensshTransport(
			host("login.lab.example", ["-F", "/x/config"]),
			transportIo({ env: ssh.env }),
		);
		expect(await transport.run("look", "echo 'a b'; exit 3")).toEqual({
			code: 3,
			stdout: "a b\n",
			stderr: "",
		});
		const call = (await ssh.calls()).at(-1)!;
		expect(call.slice(0, 2)).toEqual(["-F", "/x/config"]);
		expect(call.slice(-4)).toEqual(["-T", "--", "login.lab.example", "bash -s"]);
		expect(optionsOf(call)).toEqual(
			expect.arrayContaining(["BatchMode=yes", "ControlMaster=auto", "ControlPersist=300", "RequestTTY=no"]),
		);
		expect(optionsOf(call).join(" ")).not.toMatch(/StrictHostKeyChecking|UserKnownHostsFile/);
		await transport.close();
	});

	test("puts nothing of the script into an argument list", async () => {
		const ssh = await fakeSsh("run");
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		expect((await transport.run("submit", "export T='s3cret'; echo ok")).stdout).toBe("ok\n");
		expect(JSON.stringify(await ssh.calls())).not.toContain("s3cret");
		await transport.close();
	});

	test("runs as a login shell when asked", async () => {
		const ssh = await fakeSsh("run");
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		await transport.run("look", "true", { login: true });
		expect((await ssh.calls()).at(-1)!.at(-1)).toBe("bash -l -s");
		await transport.close();
	});

	test("drops banners and the noise of rc files on both streams", async () => {
		const noise = "echo '** Welcome **'; echo 4711; echo 'stty: not a tty' >&2; printf 'MOTD> '";
		const ssh = await fakeSsh(`${noise}; run`);
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		expect(await transport.run("look", "echo 39; echo w >&2")).toEqual({
			code: 0,
			stdout: "39\n",
			stderr: "w\n",
		});
		await transport.close();
	});

	test("is in a session of its own, where a ctrl-C on our terminal does not reach it", async () => {
		const session = "cut -d' ' -f6 /proc/$$/stat";
		const folder = await tempFolder();
		const ssh = await fakeSsh(`${session} >${folder}/session; run`);
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		await transport.run("look", "true");
		const ours = (await readFile("/proc/self/stat", "utf8")).split(") ")[1]!.split(" ")[3];
		expect(await readFile(`${folder}/session`, "utf8")).toMatch(/^\d+\n$/);
		expect((await readFile(`${folder}/session`, "utf8")).trim()).not.toBe(ours);
		await transport.close();
	});

	test.each(["sh", "dash", "bash"])("works whatever the login shell is: %s", async (shell) => {
		const ssh = await fakeSsh(`exec ${shell} -c "$last"`);
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		expect((await transport.run("look", "[[ -v BASH_VERSION ]] && echo bash")).stdout).toBe("bash\n");
		await transport.close();
	});

	test("of which we see no end is lost", async () => {
		const ssh = await fakeSsh(
			`${"${!#}"} 2>/dev/null | head -n1; echo 'client_loop: send disconnect: Broken pipe' >&2; exit 255`,
		);
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		const problem = await problemOf(transport.run("submit", "echo x"));
		expect(problem).toMatchObject({ code: "exchange-lost", exit: "unreachable" });
		expect(problem.message).toContain("Broken pipe");
		await transport.close();
	});

	test("never hangs: a time limit ends it and ssh with it", async () => {
		const folder = await tempFolder();
		const ssh = await fakeSsh(
			`mkfifo ${folder}/never; echo $$ >${folder}/pid.new; mv ${folder}/pid.new ${folder}/pid; exec 4<>${folder}/never; read -u 4`,
		);
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		const problem = await problemOf(transport.run("look", "true", { timeoutMs: 2_000 }));
		expect(problem).toMatchObject({ code: "exchange-lost", exit: "unreachable" });
		const pid = Number(await readFile(`${folder}/pid`, "utf8"));
		await expect.poll(() => alive(pid), { timeout: 20_000 }).toBe(false);
		await transport.close();
	});
});

function alive(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}

describe("ssh's own failures", () => {
	const cases: readonly (readonly [string, string, string])[] = [
		[
			"host-unreachable",
			"ssh: Could not resolve hostname login.lab.example: Name or service not known",
			"ssh login.lab.example true",
		],
		["host-unreachable", "ssh: connect to host login.lab.example port 22: Connection refused", "network"],
		["host-unreachable", "Connection closed by 192.0.2.7 port 22", "network"],
		["host-key-unknown", "Host key verification failed.", "fingerprint"],
		[
			"host-key-unknown",
			"No ED25519 host key is known for login.lab.example and you have requested strict checking.",
			"fingerprint",
		],
		[
			"host-key-changed",
			"@@@@@@@@\\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\\n@@@@@@@@\\nOffending ED25519 key in /h/known_hosts:3\\nHost key verification failed.",
			"ssh-keygen -R",
		],
		[
			"auth-failed",
			"u@login.lab.example: Permission denied (publickey,keyboard-interactive).",
			"ssh -M -N -f",
		],
	];
	test.each(cases)("%s: %s", async (code, words, remedy) => {
		const ssh = await fakeSsh(`printf '${words}\\r\\n' >&2; exit 255`);
		const problem = await problemOf(
			opensshTransport(host(), transportIo({ env: ssh.env })).run("look", "true"),
		);
		expect(problem).toMatchObject({ code, exit: "unreachable" });
		expect(problem.message).toContain(words.split("\\n").at(-1));
		expect(problem.message).not.toMatch(/[\r\n]|@@/);
		expect(problem.remedy).toContain(remedy);
	});

	test("a host without bash", async () => {
		const ssh = await fakeSsh("echo 'csh: bash: Command not found.' >&2; exit 127");
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		const problem = await problemOf(transport.run("look", "true"));
		await transport.close();
		expect(problem).toMatchObject({ code: "shell-missing", exit: "unreachable" });
		expect(problem.message).toContain("Command not found");
	});

	test("a script's exit code 255 is the script's", async () => {
		const ssh = await fakeSsh("run");
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		expect((await transport.run("look", "exit 255")).code).toBe(255);
		await transport.close();
	});

	test("no ssh program", async () => {
		const run = opensshTransport(host(), transportIo({ env: { PATH: "/nonexistent" } })).run("look", "true");
		expect(await problemOf(run)).toMatchObject({ code: "ssh-missing", exit: "unreachable" });
	});

	test.each(["-oProxyCommand=x", "", "a b", "a\nb", " a"])("refuses %j as a host name", (hostname) => {
		expect(() => opensshTransport(host(hostname), transportIo())).toThrow(/hostname-refused/);
	});
});

describe("master connections", () => {
	const usersOwn = "echo 'Master running (pid=7)' >&2; exit 0";

	test("the user's open master is used and left open", async () => {
		const ssh = await fakeSsh("run", usersOwn);
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		await transport.run("look", "true");
		await transport.close();
		const calls = await ssh.calls();
		expect(calls.flat().join(" ")).not.toMatch(/ControlPath=|-O exit/);
		expect(optionsOf(calls.at(-1)!)).toContain("ControlMaster=no");
	});

	test("a master opened with the command from our remedy is found", async () => {
		const check = `[[ "$*" == *ControlPath='~/.ssh/gymfile-%C'* ]] && { ${usersOwn}; }; exit 255`;
		const ssh = await fakeSsh(`[[ "$*" == *gymfile-%C* ]] || exit 255; run`, check);
		const transport = opensshTransport(host(), transportIo({ env: ssh.env }));
		expect((await transport.run("look", "echo in")).stdout).toBe("in\n");
		await transport.close();
	});

	test("ours is asked to exit by its path, and its folder goes", async () => {
		const ssh = await fakeSsh("run");
		const folder = await tempFolder();
		const transport = opensshTransport(host(), transportIo({ env: { ...ssh.env, TMPDIR: folder } }));
		await transport.run("look", "true");
		await transport.run("look", "true");
		const [made] = await readdir(folder);
		await transport.close();
		await transport.close();
		expect(await readdir(folder)).toEqual([]);
		const calls = await ssh.calls();
		expect(calls.filter((call) => call.at(-1) === "bash -s")).toHaveLength(2);
		expect(calls.filter((call) => call.includes("exit"))).toHaveLength(1);
		expect(optionsOf(calls.at(-1)!)).toContain(`ControlPath=${folder}/${made}/%C`);
	});

	test("with a person there, ssh may ask first, in the foreground", async () => {
		const ssh = await fakeSsh("run", undefined, "echo 'Duo two-factor login' >&2; exit 0");
		const said: string[] = [];
		const transport = opensshTransport(
			host(),
			transportIo({ env: ssh.env, terminal: (words) => said.push(words) }),
		);
		await transport.run("look", "true");
		const calls = await ssh.calls();
		const opening = calls.filter((call) => call.includes("-N"));
		expect(opening).toHaveLength(1);
		expect(opening[0]).not.toContain("BatchMode=yes");
		expect(said.join("")).toBe("Duo two-factor login\n");
		expect(calls.at(-1)).toContain("BatchMode=yes");
		await transport.close();
	});

	test("a person who does not get in sees why; the next exchange asks again", async () => {
		const ssh = await fakeSsh("run", undefined, "echo 'Permission denied (password).' >&2; exit 255");
		const transport = opensshTransport(host(), transportIo({ env: ssh.env, terminal: () => undefined }));
		expect((await problemOf(transport.run("look", "true"))).code).toBe("auth-failed");
		expect((await problemOf(transport.run("look", "true"))).code).toBe("auth-failed");
		expect((await ssh.calls()).filter((call) => call.includes("-N"))).toHaveLength(2);
	});
});

describe("the folder of the socket", () => {
	test("is private and in TMPDIR", async () => {
		const parent = await tempFolder();
		const folder = await makeControlFolder(parent);
		expect(folder.startsWith(`${parent}/gym-`)).toBe(true);
		const { mode } = await stat(folder);
		expect(mode & 0o777).toBe(0o700);
	});

	test.each(["x".repeat(90), "with blank", "50%"])("is elsewhere when TMPDIR is %j", async (name) => {
		const parent = join(await tempFolder(), name);
		await mkdir(parent);
		const folder = await makeControlFolder(parent);
		expect(folder).toMatch(/^\/tmp\/gym-\w+$/);
		await removeControlFolder(folder);
	});

	test("takes away what killed programs left: old, empty and ours", async () => {
		const parent = await tempFolder();
		const old = new Date(Date.now() - 2 * 3_600_000);
		for (const name of ["gym-AAAAAA", "gym-inUse1", "gym-recent", "gym-other-name"])
			await mkdir(join(parent, name));
		await writeFile(join(parent, "gym-inUse1", "socket"), "");
		for (const name of ["gym-AAAAAA", "gym-inUse1", "gym-other-name"])
			await utimes(join(parent, name), old, old);
		const folder = await makeControlFolder(parent);
		expect((await readdir(parent)).sort()).toEqual(
			[folder.slice(parent.length + 1), "gym-inUse1", "gym-other-name", "gym-recent"].sort(),
		);
	});
});
