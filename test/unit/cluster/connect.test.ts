import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connect, isThisMachine, sshFor } from "../../../src/cluster/transport/connect.ts";
import { fakeSsh, tempFolder, transportIo } from "./transport-io.ts";

describe("isThisMachine", () => {
	const full = () => "login1.lab.example";
	test.each([
		["localhost", "login1", true],
		["login1", "login1", true],
		["LOGIN1", "login1", true],
		["login1", "login1.lab.example", true],
		["login1.lab.example", "login1", true],
		["login1.lab.example", "login1.lab.example", true],
		["login1.other.example", "login1", false],
		["login1.other.example", "login1.lab.example", false],
		["login2", "login1", false],
		["me@login1", "login1", false],
		["login10", "login1", false],
	])("%s on %s: %s", (name, own, expected) => {
		expect(isThisMachine(name, own, full)).toBe(expected);
	});

	test("asks for the whole name only when the answer depends on it", () => {
		const never = () => {
			throw new Error("asked");
		};
		expect(isThisMachine("far.away.example", "login1", never)).toBe(false);
	});
});

test("connect goes to this machine without ssh, and elsewhere with it", () => {
	const io = transportIo();
	expect(connect(null, io).label).toBe("this machine");
	expect(connect(hostname(), io).label).toBe("this machine");
	expect(connect("login.lab.example", { ...io, env: { GYMFILE_SSH: "openssh" } }).label).toBe(
		"login.lab.example, ssh",
	);
	expect(connect("login.lab.example", { ...io, env: { GYMFILE_SSH: "ssh2" } }).label).toBe(
		"login.lab.example, ssh2",
	);
	for (const way of ["openssh", "ssh2"]) {
		expect(() => connect("-oX", { ...io, env: { GYMFILE_SSH: way } })).toThrow(/hostname-refused/);
	}
});

describe("the way to another machine", () => {
	test("is the ssh program where there is one on PATH, else the library", async () => {
		const { env } = await fakeSsh("run");
		expect(sshFor({ PATH: env.PATH })).toBe("openssh");
		const folder = await tempFolder();
		expect(sshFor({ PATH: folder })).toBe("ssh2");
		expect(sshFor({})).toBe("ssh2");
		await mkdir(join(folder, "ssh"));
		expect(sshFor({ PATH: folder })).toBe("ssh2");
	});

	test("is what GYMFILE_SSH asks for", async () => {
		const { env } = await fakeSsh("run");
		expect(sshFor({ ...env, GYMFILE_SSH: "ssh2" })).toBe("ssh2");
		expect(sshFor({ PATH: "/nowhere", GYMFILE_SSH: "openssh" })).toBe("openssh");
		expect(() => sshFor({ ...env, GYMFILE_SSH: "plink" })).toThrow(/ssh-unknown/);
	});
});
