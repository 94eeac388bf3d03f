import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSshConfig } from "../../../src/cluster/transport/ssh2/config-file.ts";
import { parseDestination } from "../../../src/cluster/transport/ssh2/destination.ts";
import { type HostSettings, routeTo } from "../../../src/cluster/transport/ssh2/settings.ts";
import { problemOf, tempFolder } from "./transport-io.ts";

const person = { name: "me", home: "/home/me", env: { SSH_AUTH_SOCK: "/run/agent", KEYS: "/keys" } };

/** The way to a host by a configuration of these lines. */
async function route(lines: readonly string[], host: string): Promise<readonly HostSettings[]> {
	const file = join(await tempFolder(), "config");
	await writeFile(file, lines.join("\n"));
	return routeTo(parseDestination(host), await readSshConfig(file, person.home), person);
}

async function settings(lines: readonly string[], host = "login"): Promise<HostSettings> {
	return (await route(lines, host)).at(-1)!;
}

describe("a host's settings", () => {
	test("without a configuration", async () => {
		expect(await settings([])).toEqual({
			alias: "login",
			hostname: "login",
			port: 22,
			user: "me",
			identityFiles: ["id_rsa", "id_ecdsa", "id_ed25519"].map((name) => `/home/me/.ssh/${name}`),
			identitiesOnly: false,
			agent: "/run/agent",
			jumps: [],
			keyNames: ["login"],
			knownHostsFiles: ["/home/me/.ssh/known_hosts", "/home/me/.ssh/known_hosts2"],
			globalKnownHostsFiles: ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"],
			hashKnownHosts: false,
			acceptNew: false,
			connectTimeoutMs: 30_000,
			aliveIntervalMs: 15_000,
			aliveCountMax: 4,
		});
	});

	test("the first value counts, whatever the letters of its keyword; keys add up", async () => {
		const found = await settings([
			"user first",
			"Host log*",
			"  HOSTNAME %h.lab.example",
			"  User second",
			"  IdentityFile ~/.ssh/a",
			"Host other",
			"  Port 1",
			"Host * !login",
			"  Port 2",
			"Host *",
			'  IdentityFile "%d/keys/%r@%h"',
			"  IdentityFile ${KEYS}/b",
			"  Port=2222",
		]);
		expect(found).toMatchObject({ user: "first", hostname: "login.lab.example", port: 2222 });
		expect(found.identityFiles).toEqual([
			"/home/me/.ssh/a",
			"/home/me/keys/first@login.lab.example",
			"/keys/b",
		]);
		expect(found.keyNames).toEqual(["[login.lab.example]:2222", "login.lab.example"]);
	});

	test("what stands in the host name itself beats the configuration", async () => {
		const found = await settings(["User you", "Port 1"], "she@login:2200");
		expect(found).toMatchObject({ hostname: "login", user: "she", port: 2200 });
	});

	test("the rest of what a connection honours", async () => {
		expect(
			await settings([
				"IdentitiesOnly yes",
				"IdentityAgent none",
				"HostKeyAlias Lab",
				"UserKnownHostsFile ~/a ~/b",
				"GlobalKnownHostsFile none",
				"HashKnownHosts yes",
				"ConnectTimeout 5",
				"ServerAliveInterval 3",
				"ServerAliveCountMax 2",
			]),
		).toMatchObject({
			identitiesOnly: true,
			agent: null,
			keyNames: ["lab"],
			knownHostsFiles: ["/home/me/a", "/home/me/b"],
			globalKnownHostsFiles: [],
			hashKnownHosts: true,
			connectTimeoutMs: 5_000,
			aliveIntervalMs: 3_000,
			aliveCountMax: 2,
		});
	});

	test.each([
		["yes", false],
		["ask", false],
		["accept-new", true],
		["no", true],
		["off", true],
	])("StrictHostKeyChecking %s takes a new key: %s", async (value, acceptNew) => {
		expect((await settings([`StrictHostKeyChecking ${value}`])).acceptNew).toBe(acceptNew);
	});

	test.each([
		["all", true],
		["originalhost login", true],
		["host login", false],
		["host *.lab.example", true],
		["!host *.lab.example", false],
		["user you,me", true],
		["user me originalhost other", false],
		["localuser me", true],
		["final all", false],
	])("Match %s: %s", async (condition, holds) => {
		const found = await settings(["HostName login.lab.example", `Match ${condition}`, "Port 7"]);
		expect(found.port).toBe(holds ? 7 : 22);
	});

	test("an agent of its own", async () => {
		expect((await settings(["IdentityAgent ~/a.sock"])).agent).toBe("/home/me/a.sock");
		expect((await settings(["IdentityAgent $KEYS"])).agent).toBe("/keys");
		expect((await settings(["IdentityAgent SSH_AUTH_SOCK"])).agent).toBe("/run/agent");
	});
});

describe("included files", () => {
	test("count where they stand, under the condition that holds there", async () => {
		const folder = await tempFolder();
		await mkdir(join(folder, "conf.d"));
		await writeFile(join(folder, "conf.d", "2.conf"), "User second\nPort 2\n");
		await writeFile(join(folder, "conf.d", "1.conf"), "Host login\nUser first\n");
		await writeFile(join(folder, "other"), "Host *\nHostKeyAlias never\n");
		const found = await settings([
			"Host other",
			`Include ${folder}/other`,
			"Match all",
			`Include ${folder}/conf.d/*.conf ${folder}/missing`,
			"HostName after",
		]);
		expect(found).toMatchObject({ user: "first", port: 2, hostname: "after" });
		expect(found.keyNames[0]).toBe("[after]:2");
	});

	test("may not include each other without end", async () => {
		const file = join(await tempFolder(), "config");
		await writeFile(file, `Include ${file}\n`);
		expect((await problemOf(readSshConfig(file, person.home))).code).toBe("ssh-config-refused");
	});
});

describe("jump hosts", () => {
	const way = async (lines: readonly string[], host = "login") =>
		(await route(lines, host)).map(({ user, hostname, port }) => `${user}@${hostname}:${port}`);

	test("come first, with settings of their own", async () => {
		const lines = ["Host login", "ProxyJump gate", "Host gate", "HostName gate.lab.example", "User guest"];
		expect(await way(lines)).toEqual(["guest@gate.lab.example:22", "me@login:22"]);
	});

	test("may be many, and the first may have its own", async () => {
		const lines = ["Host login", "ProxyJump a@gate:2200,ssh://b@[::1]:23", "Host gate", "ProxyJump outer"];
		expect(await way(lines)).toEqual(["me@outer:22", "a@gate:2200", "b@::1:23", "me@login:22"]);
	});

	test("none, or set after a ProxyCommand that is none", async () => {
		expect(await way(["ProxyJump none"])).toEqual(["me@login:22"]);
		expect(await way(["ProxyCommand none", "ProxyJump gate"])).toEqual(["me@login:22"]);
		expect(await way(["Host login", "ProxyJump gate", "ProxyCommand nc %h %p"])).toHaveLength(2);
	});

	test("may not lead in a circle", async () => {
		const problem = await problemOf(route(["ProxyJump gate"], "login"));
		expect(problem).toMatchObject({ code: "ssh-config-refused", exit: "unreachable" });
		expect(problem.message).toContain("login, gate, gate");
	});
});

describe("a configuration that only ssh can follow is refused, not half followed", () => {
	test.each([
		["ProxyCommand", ["ProxyCommand nc %h %p"]],
		["RevokedHostKeys", ["RevokedHostKeys /etc/ssh/revoked"]],
		["Match exec", ['Match exec "true"', "Port 7"]],
	])("%s", async (what, lines) => {
		const problem = await problemOf(route(lines, "login"));
		expect(problem).toMatchObject({ code: "ssh-config-refused", exit: "unreachable" });
		expect(problem.message).toContain(what);
		expect(problem.remedy).toContain("OpenSSH");
	});

	test("but not for a host that it is not about", async () => {
		expect((await settings(["Match originalhost other exec true", "Port 7"])).port).toBe(22);
	});

	test("a text that is none, and a file that is not there", async () => {
		expect((await problemOf(route(['Host "login'], "login"))).code).toBe("ssh-config-refused");
		expect((await problemOf(readSshConfig("/nowhere/config", person.home))).message).toContain("/nowhere");
	});
});

describe("a destination", () => {
	test.each([
		["login", "login", null, null],
		["me@login", "login", "me", null],
		["me@site@login", "login", "me@site", null],
		["login:2222", "login", null, 2222],
		["ssh://me@login:2222/", "login", "me", 2222],
		["[::1]:2222", "::1", null, 2222],
		["fe80::1", "fe80::1", null, null],
	])("%s", (text, host, user, port) => {
		expect(parseDestination(text)).toEqual({ host, user, port });
	});
});
