import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostKeyCheck } from "../../../src/cluster/transport/ssh2/host-key.ts";
import {
	keyType,
	knownTypes,
	lineFor,
	nameOnRecord,
	parseKnownHosts,
	verdictOn,
} from "../../../src/cluster/transport/ssh2/known-hosts.ts";
import { addKnownHost, readKnownHosts } from "../../../src/cluster/transport/ssh2/known-hosts-file.ts";
import { tempFolder } from "./transport-io.ts";

/** A public key of this kind with this content. */
function keyOf(type: string, content: string | Uint8Array): Buffer {
	const fields = [Buffer.from(type), Buffer.from(content)];
	return Buffer.concat(
		fields.flatMap((field) => {
			const length = Buffer.alloc(4);
			length.writeUInt32BE(field.length);
			return [length, field];
		}),
	);
}

const ours = keyOf("ssh-ed25519", "ours");
const other = keyOf("ssh-ed25519", "other");
const rsa = keyOf("ssh-rsa", "rsa");
const text = (names: string, key: Buffer): string => `${names} ${keyType(key)} ${key.toString("base64")}`;
const verdict = (lines: readonly string[], name: string, key = ours) =>
	verdictOn(parseKnownHosts(lines.join("\n"), "kh"), name, key);

describe("what the files say of a key", () => {
	const cases: readonly (readonly [string, readonly string[], string, string, string | null])[] = [
		["the very name", [text("login", ours)], "login", "known", "kh:1"],
		["another name", [text("login2", ours)], "login", "new", null],
		["one of several names", [text("a,login,b", ours)], "login", "known", "kh:1"],
		["a name in other letters", [text("LOGIN", ours)], "login", "known", "kh:1"],
		["a pattern", [text("*.lab.example", ours)], "login.lab.example", "known", "kh:1"],
		["a dot is a dot", [text("login.lab", ours)], "loginxlab", "new", null],
		["an exclusion", [text("*.lab.example,!login.*", ours)], "login.lab.example", "new", null],
		["a port", [text("[login]:2222", ours)], "[login]:2222", "known", "kh:1"],
		["another port", [text("[login]:2222", ours)], "login", "new", null],
		["another key", [text("login", other)], "login", "changed", "kh:1"],
		["a key of another kind", [text("login", rsa)], "login", "changed", "kh:1"],
		["one of several keys", [text("login", rsa), "", text("login", ours)], "login", "known", "kh:3"],
		["a revoked key", [`@revoked ${text("*", ours)}`], "login", "revoked", "kh:1"],
		[
			"revoked after it was taken",
			[text("login", ours), `@revoked ${text("*", ours)}`],
			"login",
			"revoked",
			"kh:2",
		],
		["another key is revoked", [`@revoked ${text("login", other)}`], "login", "new", null],
		["an authority", [`@cert-authority ${text("*", other)}`], "login", "new", null],
		["a comment", [`# ${text("login", ours)}`, `${text("login", ours)} me@here`], "login", "known", "kh:2"],
		["an unknown marker", [`@strange ${text("login", ours)}`], "login", "new", null],
		["not a key", ["login ssh-ed25519 !!!", "login", "login 1024 35 12345"], "login", "new", null],
		["a kind that is not the key's", [`login ssh-rsa ${ours.toString("base64")}`], "login", "new", null],
		["an empty file", [""], "login", "new", null],
	];
	test.each(cases)("%s", (_what, lines, name, status, place) => {
		expect(verdict(lines, name)).toEqual({ status, place });
	});

	test("names that ssh-keygen has hidden", () => {
		const key = "AAAAC3NzaC1lZDI1NTE5AAAAIEcu8aYADbvopmSwtlwWS1Z7yULiP4xYsAvbMvDgjwv8";
		const lines = [
			`|1|TL8sbw7KG/IMcVrnrEQFzp+4dYQ=|LiJG0GeKQ5qzxwULFHmBtYkKems= ssh-ed25519 ${key}`,
			`|1|zo0eUIM3G09OwnYg5iAa6EMQXJE=|rEBkOxPL7L366BuYOgmvYTPn4yg= ssh-ed25519 ${key}`,
		].join("\n");
		const known = parseKnownHosts(lines, "kh");
		for (const name of ["login.lab.example", "[login.lab.example]:2222"]) {
			expect(verdictOn(known, name, Buffer.from(key, "base64")).status).toBe("known");
			expect(verdictOn(known, name, ours).status).toBe("changed");
		}
		expect(verdictOn(known, "other.lab.example", ours).status).toBe("new");
	});

	test("the kinds on record, without what is revoked", () => {
		const known = parseKnownHosts(
			[text("login", rsa), text("other", ours), `@revoked ${text("login", ours)}`].join("\n"),
			"kh",
		);
		expect(knownTypes(known, "login")).toEqual(["ssh-rsa"]);
	});

	const name = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,20}$/);
	const port = fc.constantFrom(22, 2222, 65_535);
	const salt = fc.option(fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => Buffer.from(bytes)));
	const key = fc
		.tuple(fc.constantFrom("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256"), fc.uint8Array())
		.map(([type, bytes]) => keyOf(type, bytes));

	test("a line of ours makes that key known for that host and port, and no other", () => {
		fc.assert(
			fc.property(name, port, salt, key, key, fc.string(), (host, at, hidden, mine, their, junk) => {
				const line = lineFor(nameOnRecord(host, at), mine, hidden);
				const lines = [`#${junk.replaceAll("\n", " ")}`, line, ""];
				expect(verdict(lines, nameOnRecord(host, at), mine)).toEqual({ status: "known", place: "kh:2" });
				expect(verdict(lines, nameOnRecord(`${host}x`, at), mine).status).toBe("new");
				expect(verdict(lines, nameOnRecord(host, at + 1), mine).status).toBe("new");
				const status = their.equals(mine) ? "known" : "changed";
				expect(verdict(lines, nameOnRecord(host, at), their).status).toBe(status);
			}),
		);
	});

	test("any text can be read, and makes no key known that does not stand in it", () => {
		const line = fc.oneof(
			fc.string(),
			fc
				.array(fc.constantFrom("@revoked", "login", "*", "!", "|1|", "|", ",", "ssh-ed25519", "AAAA", "\t"), {
					maxLength: 6,
				})
				.map((words) => words.join(" ")),
		);
		fc.assert(
			fc.property(fc.array(line), (lines) => {
				expect(["new", "changed"]).toContain(verdict(lines, "login").status);
			}),
		);
	});
});

describe("the key that a host shows on another port", () => {
	async function refusal(lines: string, key: Buffer): Promise<string | null> {
		const file = join(await tempFolder(), "known_hosts");
		await writeFile(file, lines);
		const check = await hostKeyCheck({
			alias: "login",
			hostname: "login",
			port: 2222,
			user: "alice",
			identityFiles: [],
			identitiesOnly: false,
			agent: null,
			jumps: [],
			keyNames: ["[login]:2222", "login"],
			knownHostsFiles: [file],
			globalKnownHostsFiles: [],
			hashKnownHosts: false,
			acceptNew: true,
			connectTimeoutMs: 1000,
			aliveIntervalMs: 1000,
			aliveCountMax: 3,
		});
		const refused = check.refusal(key);
		return refused && refused.problems[0]!.code;
	}

	test("may be on record under the plain name, unless there is another one for the port", async () => {
		expect(await refusal(text("login", ours), ours)).toBeNull();
		const both = `${text("[login]:2222", other)}\n${text("login", ours)}\n`;
		expect(await refusal(both, ours)).toBe("host-key-changed");
		expect(await refusal(both, other)).toBeNull();
	});
});

describe("the files", () => {
	test("are read in order; those that are missing hold nothing", async () => {
		const folder = await tempFolder();
		await writeFile(join(folder, "a"), text("login", ours));
		const known = await readKnownHosts([join(folder, "missing"), join(folder, "a"), folder]);
		expect(known.map(({ place }) => place)).toEqual([`${join(folder, "a")}:1`]);
	});

	test("a new one is private, with its folder", async () => {
		const file = join(await tempFolder(), ".ssh", "known_hosts");
		await addKnownHost(file, "first");
		await addKnownHost(file, "second");
		expect(await readFile(file, "utf8")).toBe("first\nsecond\n");
		expect((await stat(file)).mode & 0o777).toBe(0o600);
		expect((await stat(join(file, ".."))).mode & 0o777).toBe(0o700);
	});

	test("a last line without an end stays whole", async () => {
		const file = join(await tempFolder(), "known_hosts");
		await writeFile(file, "first");
		await addKnownHost(file, "second");
		expect(await readFile(file, "utf8")).toBe("first\nsecond\n");
	});

	test("lines that are added at the same time are all there", async () => {
		const folder = join(await tempFolder(), "deep");
		await mkdir(folder);
		const lines = Array.from({ length: 20 }, (_, index) => `host${index} ${"x".repeat(500)}`);
		await Promise.all(lines.map((line) => addKnownHost(join(folder, "known_hosts"), line)));
		const written = (await readFile(join(folder, "known_hosts"), "utf8")).trimEnd().split("\n");
		expect(written.sort()).toEqual([...lines].sort());
	});
});
