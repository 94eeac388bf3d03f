import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { connect, isThisMachine } from "../../../src/cluster/transport/connect.ts";
import { transportIo } from "./transport-io.ts";

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
	const io = { ...transportIo(), sshArgs: [] };
	expect(connect(null, io).label).toBe("this machine");
	expect(connect(hostname(), io).label).toBe("this machine");
	expect(connect("login.lab.example", io).label).toBe("login.lab.example, ssh");
	expect(() => connect("-oX", io)).toThrow(/hostname-refused/);
});
