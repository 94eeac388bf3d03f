/** What the ssh2 transport does by itself where openssh has the `ssh` program: keys, agents, known hosts. */
import { execFileSync, spawn } from "node:child_process";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ssh2Transport } from "../../src/cluster/transport/ssh2.ts";
import type { Transport } from "../../src/cluster/transport/transport.ts";
import { clusterInfo, waitFor } from "../setup/cluster.ts";
import { problemOf, tempFolder, transportIo } from "../unit/cluster/transport-io.ts";

const bed = (name: string): string => join(clusterInfo().run, "ssh", name);

/** A transport to the login node by a configuration of just these lines. */
async function over(lines: readonly string[], env: Record<string, string> = {}): Promise<Transport> {
	const path = join(await tempFolder(), "config");
	const where = ["HostName 127.0.0.1", `Port ${clusterInfo().sshPort}`, `User ${clusterInfo().user}`];
	await writeFile(path, [...lines, ...where, "GlobalKnownHostsFile none", ""].join("\n"));
	const transport = ssh2Transport({ hostname: "login", config: path }, transportIo({ env }));
	onTestFinished(() => transport.close());
	return transport;
}

const connection = 'echo "$SSH_CONNECTION"';
const known = (): string => `UserKnownHostsFile ${bed("known_hosts")}`;
const key = (): string => `IdentityFile ${bed("id")}`;

/** A fresh key; with a pass phrase it is of no use by itself. */
async function newKey(phrase = ""): Promise<string> {
	const path = join(await tempFolder(), "key");
	execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", phrase, "-f", path]);
	return path;
}

/** An agent with the key that is let in; its socket. */
async function agentWith(...keys: readonly string[]): Promise<string> {
	const socket = join(await tempFolder(), "agent");
	const agent = spawn("ssh-agent", ["-D", "-a", socket], { stdio: "ignore" });
	onTestFinished(() => void agent.kill());
	await waitFor(() => stat(socket).catch(() => null), "the agent");
	execFileSync("ssh-add", ["-q", ...keys], {
		env: { ...process.env, SSH_AUTH_SOCK: socket },
		stdio: "ignore",
	});
	return socket;
}

describe("one connection", () => {
	test("carries all exchanges and ends with close; after that another is opened", async () => {
		const transport = await over([known(), key()]);
		const first = await transport.run("look", connection);
		expect(await transport.run("look", connection)).toEqual(first);
		await transport.close();
		await transport.close();
		const later = await transport.run("look", connection);
		expect(later.code).toBe(0);
		expect(later.stdout).not.toBe(first.stdout);
	});

	test("that ends between two exchanges is replaced", async () => {
		const transport = await over([known(), key()]);
		const parent = Number((await transport.run("look", "ps -o ppid= -p $PPID")).stdout);
		const first = await transport.run("look", connection);
		await transport.run("look", `kill ${parent}`).catch(() => undefined);
		await waitFor(
			() =>
				transport.run("look", connection).then(
					({ stdout }) => stdout !== "" && stdout !== first.stdout,
					() => false,
				),
			"another connection",
		);
	});

	test("does not keep a script's children waiting", async () => {
		const transport = await over([known(), key()]);
		const answer = await transport.run("look", "sleep 600 & echo $!");
		await transport.run("look", `kill ${answer.stdout}`);
		expect(answer.code).toBe(0);
	});
});

describe("keys", () => {
	test("those that are not let in, locked or no keys are passed over", async () => {
		const files = [await newKey(), await newKey("phrase"), bed("known_hosts"), "/nowhere/key", bed("id")];
		const transport = await over([known(), ...files.map((file) => `IdentityFile ${file}`)]);
		expect((await transport.run("look", "echo in")).stdout).toBe("in\n");
	});

	test("a locked one alone: the agent is the remedy", async () => {
		const locked = await newKey("phrase");
		const transport = await over([known(), `IdentityFile ${locked}`]);
		const problem = await problemOf(transport.run("look", "true"));
		expect(problem).toMatchObject({ code: "auth-failed", exit: "unreachable" });
		expect(problem.remedy).toContain("ssh-add");
		expect(problem.remedy).toContain(locked);
	});

	test("the agent's", async () => {
		const SSH_AUTH_SOCK = await agentWith(await newKey(), bed("id"));
		const transport = await over([known(), "IdentityFile none"], { SSH_AUTH_SOCK });
		expect((await transport.run("look", "echo in")).stdout).toBe("in\n");
	});

	test("of the agent only those that are named, when the configuration says so", async () => {
		const own = await newKey();
		const SSH_AUTH_SOCK = await agentWith(own, bed("id"));
		const lines = [known(), "IdentitiesOnly yes"];
		const wrong = await over([...lines, `IdentityFile ${own}`], { SSH_AUTH_SOCK });
		expect((await problemOf(wrong.run("look", "true"))).code).toBe("auth-failed");
		// The public half is enough to name one.
		const right = await over([...lines, `IdentityFile ${bed("id.pub")}`], { SSH_AUTH_SOCK });
		expect((await right.run("look", "echo in")).stdout).toBe("in\n");
	});

	test("an agent that is gone is passed over", async () => {
		const transport = await over([known(), key()], { SSH_AUTH_SOCK: "/nowhere/agent" });
		expect((await transport.run("look", "echo in")).stdout).toBe("in\n");
	});
});

describe("host keys", () => {
	const newFile = async (): Promise<string> => join(await tempFolder(), "new", "known_hosts");
	const hostKey = async (): Promise<string> => {
		const [kind, base64] = (await readFile(bed("host_key.pub"), "utf8")).split(" ");
		return `${kind} ${base64}`;
	};
	const name = (): string => `[127.0.0.1]:${clusterInfo().sshPort}`;

	test.each(["accept-new", "no"])(
		"%s puts a new one on record, once, and ssh knows it then",
		async (value) => {
			const file = await newFile();
			const lines = [`UserKnownHostsFile ${file}`, `StrictHostKeyChecking ${value}`, key()];
			for (const _ of [1, 2]) {
				const transport = await over(lines);
				expect((await transport.run("look", "echo in")).stdout).toBe("in\n");
				await transport.close();
			}
			expect(await readFile(file, "utf8")).toBe(`${name()} ${await hostKey()}\n`);
			expect((await stat(file)).mode & 0o777).toBe(0o600);
			const strict = ["-o", `UserKnownHostsFile=${file}`, "-o", "StrictHostKeyChecking=yes"];
			const said = execFileSync("ssh", ["-F", bed("config"), ...strict, "login", "echo in"], {
				encoding: "utf8",
			});
			expect(said).toBe("in\n");
		},
	);

	test("hidden names, when the configuration says so", async () => {
		const file = await newFile();
		const lines = [`UserKnownHostsFile ${file}`, "HashKnownHosts yes", key()];
		const first = await over([...lines, "StrictHostKeyChecking accept-new"]);
		expect((await first.run("look", "echo in")).stdout).toBe("in\n");
		expect(await readFile(file, "utf8")).toMatch(/^\|1\|\S+ ssh-ed25519 \S+\n$/);
		const found = execFileSync("ssh-keygen", ["-F", name(), "-f", file], { encoding: "utf8" });
		expect(found).toContain("found: line 1");
		const second = await over([...lines, "StrictHostKeyChecking yes"]);
		expect((await second.run("look", "echo in")).stdout).toBe("in\n");
	});

	test("an unknown one: the remedy is the line to add, and it works", async () => {
		const file = join(await tempFolder(), "known_hosts");
		const lines = [`UserKnownHostsFile ${file}`, key()];
		const problem = await problemOf((await over(lines)).run("look", "true"));
		expect(problem).toMatchObject({ code: "host-key-unknown", exit: "unreachable" });
		const shown = execFileSync("ssh-keygen", ["-l", "-f", bed("host_key.pub")], { encoding: "utf8" });
		expect(problem.message).toContain(shown.split(" ")[1]);
		await writeFile(file, problem.remedy!.split(`${file}: `)[1]!);
		expect((await (await over(lines)).run("look", "echo in")).stdout).toBe("in\n");
	});

	test("a revoked one is refused, also when it is on record", async () => {
		const file = join(await tempFolder(), "known_hosts");
		await writeFile(file, `${name()} ${await hostKey()}\n@revoked * ${await hostKey()}\n`);
		const lines = [`UserKnownHostsFile ${file}`, "StrictHostKeyChecking no", key()];
		const problem = await problemOf((await over(lines)).run("look", "true"));
		expect(problem).toMatchObject({ code: "host-key-changed", exit: "unreachable" });
		expect(problem.message).toContain("REVOKED");
	});

	test("one under an alias, one without its port, and a file that cannot be written to", async () => {
		const file = join(await tempFolder(), "known_hosts");
		await writeFile(file, `lab ${await hostKey()}\n`);
		const alias = await over([`UserKnownHostsFile ${file}`, "HostKeyAlias lab", key()]);
		expect((await alias.run("look", "echo in")).stdout).toBe("in\n");
		await writeFile(file, `127.0.0.1 ${await hostKey()}\n`);
		const plain = await over([`UserKnownHostsFile ${file}`, key()]);
		expect((await plain.run("look", "echo in")).stdout).toBe("in\n");
		const nowhere = ["UserKnownHostsFile /dev/null/known_hosts", "StrictHostKeyChecking accept-new"];
		expect((await (await over([...nowhere, key()])).run("look", "echo in")).stdout).toBe("in\n");
	});
});

test("a jump host whose key has changed stops the way there", async () => {
	const folder = await tempFolder();
	const other = await newKey();
	const [kind, base64] = (await readFile(`${other}.pub`, "utf8")).split(" ");
	await writeFile(join(folder, "known_hosts"), `[127.0.0.1]:${clusterInfo().sshPort} ${kind} ${base64}\n`);
	const config = await readFile(bed("config"), "utf8");
	const gate = config.replaceAll(bed("known_hosts"), join(folder, "known_hosts"));
	await writeFile(join(folder, "config"), `Host inner\nProxyJump login\n${gate}`);
	await chmod(join(folder, "config"), 0o600);
	const transport = ssh2Transport({ hostname: "inner", config: join(folder, "config") }, transportIo());
	const problem = await problemOf(transport.run("look", "true"));
	expect(problem).toMatchObject({ code: "host-key-changed", exit: "unreachable" });
	expect(problem.message).toMatch(/^login: /);
});
