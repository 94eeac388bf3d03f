import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { localTransport } from "../../src/cluster/transport/local.ts";
import { opensshTransport } from "../../src/cluster/transport/openssh.ts";
import { ssh2Transport } from "../../src/cluster/transport/ssh2.ts";
import type { Transport, TransportIo } from "../../src/cluster/transport/transport.ts";
import { quote } from "../../src/job/script/quote.ts";
import { clusterInfo, freshOutputPath, waitFor } from "../setup/cluster.ts";
import { runProgram } from "../setup/slurm-cluster.ts";
import { problemOf, tempFolder, transportIo } from "../unit/cluster/transport-io.ts";
import { processWith, resetConnection } from "./ssh-session.ts";

/** Reaches a host by a configuration file. */
type Way = (hostname: string, config: string | null, io?: Partial<TransportIo>) => Transport;

const openssh: Way = (hostname, config, io) =>
	opensshTransport({ hostname, sshArgs: config === null ? [] : ["-F", config] }, transportIo(io));
const ssh2: Way = (hostname, config, io) => ssh2Transport({ hostname, config }, transportIo(io));

const ways: readonly (readonly [string, Way])[] = [
	["openssh", openssh],
	["ssh2", ssh2],
];

interface Implementation {
	readonly name: string;
	make(): Transport;
	/** For the client in a process of its own: its host, if any, and its environment. */
	readonly host?: string;
	env(): Readonly<Record<string, string>>;
}

const bed = (): string => clusterInfo().sshConfig;
/** Below the bed's folder of programs: host `inner` is the login node as it is reached from itself. */
const jumping = (): string => join(programs, "jump-config");

const overSsh = (name: string, way: Way, host: string, config: () => string): Implementation => ({
	name,
	make: () => way(host, config()),
	host,
	env: () => ({ GYMFILE_SSH: name.split(" ")[0]!, GYMFILE_SSH_CONFIG: config() }),
});

const implementations: readonly Implementation[] = [
	{ name: "local", make: () => localTransport(transportIo()), env: () => ({}) },
	overSsh("openssh", openssh, "login", bed),
	overSsh(
		"openssh with a person there",
		(host, config) => openssh(host, config, { terminal: () => undefined }),
		"login",
		bed,
	),
	overSsh("openssh through a jump host", openssh, "inner", jumping),
	overSsh("ssh2", ssh2, "login", bed),
	overSsh("ssh2 through a jump host", ssh2, "inner", jumping),
];

let programs: string;
beforeAll(async () => {
	programs = await mkdtemp(join(tmpdir(), "gym-client-"));
	await build({
		entryPoints: [new URL("./transport-client.ts", import.meta.url).pathname],
		outfile: join(programs, "client.mjs"),
		bundle: true,
		platform: "node",
		format: "esm",
		external: ["*.node", "cpu-features"],
		define: { __dirname: "import.meta.dirname" },
		banner: {
			js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
		},
	});
	const asked = execFileSync("ssh", ["-F", bed(), "login", "echo $SSH_CONNECTION"], { encoding: "utf8" });
	const [, , address, port] = asked.trim().split(" ");
	const config = await readFile(bed(), "utf8");
	const rest = config.replace(/^\s*(Host|HostName|Port) .*\n/gm, "");
	const inner = [`HostName ${address}`, `Port ${port}`, `HostKeyAlias [127.0.0.1]:${clusterInfo().sshPort}`];
	await writeFile(jumping(), `Host inner\n${inner.join("\n")}\nProxyJump login\n${rest}\n${config}`);
});
afterAll(() => rm(programs, { recursive: true, force: true }));

async function exists(path: string): Promise<boolean> {
	return (await stat(path).catch(() => null)) !== null;
}

/** A script that says when it has begun, waits for a file, prints a lot and says that it is done. */
function slowScript(folder: string): string {
	return `main() {
	trap '' HUP PIPE
	cd ${quote(folder)} || return 1
	: >begun
	local i; for ((i = 0; i < 600; i++)); do [[ ! -e go ]] || break; sleep 0.1; done
	seq 1 200000
	: >"$1"
}
main "done"`;
}

describe.each(implementations)("$name", ({ make, host, env: clientEnv }) => {
	let transport: Transport;
	beforeAll(() => {
		transport = make();
	});
	afterAll(() => transport.close());

	test.each([0, 1, 77, 127, 255])("gives back exit code %d", async (code) => {
		const answer = await transport.run("look", `echo out; echo err >&2; exit ${code}`);
		expect(answer).toEqual({ code, stdout: "out\n", stderr: "err\n" });
	});

	test("a script that kills itself", async () => {
		expect((await transport.run("look", "kill -KILL $BASHPID $$")).code).toBe(137);
	});

	test("passes every character on, both ways", async () => {
		const all = Array.from({ length: 0x2ff }, (_, index) => String.fromCharCode(index + 1)).join("");
		const hostile = `${all}'"\\$(touch x)\`touch x\`\${x}\r\n😀 漢 EOF\n}\n!!`;
		expect((await transport.run("look", `printf '%s' ${quote(hostile)}`)).stdout).toBe(hostile);
	});

	test("a script of 5 MiB", async () => {
		const value = "0123456789abcde\n".repeat((5 * 1024 * 1024) / 16);
		const answer = await transport.run("look", `x=${quote(value)}\nprintf '%s' "$x" | sha256sum`);
		const expected = execFileSync("sha256sum", { input: value, encoding: "utf8" });
		expect(answer).toEqual({ code: 0, stdout: expected, stderr: "" });
	});

	test("an answer of 20 MiB", async () => {
		const answer = await transport.run("look", "yes 0123456789abcde | head -c 20971520");
		expect(answer.code).toBe(0);
		expect(answer.stdout === "0123456789abcde\n".repeat(20_971_520 / 16)).toBe(true);
	});

	test("the script finds nothing on stdin, and no terminal", async () => {
		expect((await transport.run("look", "cat; [ -t 0 ] || [ -t 1 ] || echo none")).stdout).toBe("none\n");
	});

	test("a login shell on demand", async () => {
		const answer = await transport.run("look", 'printf "%s" "$PATH"', { login: true });
		expect(answer.code).toBe(0);
		expect(answer.stdout).toContain("/bin");
	});

	test("several exchanges at once keep their answers apart", async () => {
		const answers = await Promise.all(
			[1, 2, 3].map((n) => transport.run("look", `sleep 0.${4 - n}; echo ${n}`)),
		);
		expect(answers.map((answer) => answer.stdout)).toEqual(["1\n", "2\n", "3\n"]);
	});

	test("a time limit loses the answer, not the script", async () => {
		const folder = await freshOutputPath();
		const run = transport.run("submit", slowScript(folder), { timeoutMs: 3_000 });
		expect(await problemOf(run)).toMatchObject({ code: "exchange-lost", exit: "unreachable" });
		await writeFile(join(folder, "go"), "");
		expect(await waitFor(() => exists(join(folder, "done")), "the script to go on")).toBe(true);
	});

	const deaths: readonly (readonly [string, (client: ChildProcess) => void])[] = [
		["killed", (client) => process.kill(client.pid!, "SIGKILL")],
		["interrupted at the terminal", (client) => process.kill(-client.pid!, "SIGINT")],
	];
	test.each(deaths)("the script goes on when the client is %s", async (_how, kill) => {
		const folder = await freshOutputPath();
		const args = [join(programs, "client.mjs"), slowScript(folder), ...(host ? [host] : [])];
		const env = { ...process.env, ...clientEnv(), TMPDIR: await tempFolder() };
		const client = spawn(process.execPath, args, { detached: true, stdio: "ignore", env });
		const gone = new Promise((resolve) => client.on("exit", resolve));
		await waitFor(() => exists(join(folder, "begun")), "the script to begin");
		kill(client);
		await gone;
		await writeFile(join(folder, "go"), "");
		expect(await waitFor(() => exists(join(folder, "done")), "the script to go on")).toBe(true);
	});
});

describe.each(implementations.filter(({ host }) => host))("$name", ({ make }) => {
	test("a connection that breaks loses the exchange; the next one opens another", async () => {
		const transport = make();
		onTestFinished(() => transport.close());
		const folder = await freshOutputPath();
		const script = `mkdir ${quote(`${folder}/in`)}; cd ${quote(`${folder}/in`)} || exit; : >begun; sleep 60`;
		const lost = problemOf(transport.run("submit", script));
		await waitFor(() => exists(join(folder, "in/begun")), "the script to begin");
		await resetConnection((await processWith("bash", folder))!);
		expect(await lost).toMatchObject({ code: "exchange-lost", exit: "unreachable" });
		await waitFor(
			() =>
				transport.run("look", "echo in").then(
					({ stdout }) => stdout === "in\n",
					() => false,
				),
			"another connection",
		);
	});
});

/** An ssh configuration for `login` in which these lines come first. */
async function sshConfig(...lines: readonly string[]): Promise<string> {
	const path = join(await tempFolder(), "config");
	await writeFile(path, `Host login\n${lines.join("\n")}\nMatch all\nInclude ${clusterInfo().sshConfig}\n`);
	return path;
}

async function failsWith(way: Way, config: string | null, hostname = "login") {
	const transport = way(hostname, config);
	onTestFinished(() => transport.close());
	return problemOf(transport.run("look", "true"));
}

describe.each(ways)("noise of the account, %s", (_name, way) => {
	afterEach(() => rm(join(clusterInfo().home, ".bashrc"), { force: true }));

	test("does not reach the answer", async () => {
		const { home, sshConfig: config, user } = clusterInfo();
		await writeFile(join(home, ".bashrc"), "echo 4711; echo noise >&2; printf 'MOTD> '\n");
		await chmod(join(home, ".bashrc"), 0o644);
		const raw = execFileSync("ssh", ["-F", config, "login", "bash -s"], {
			input: "true",
			encoding: "utf8",
			stdio: ["pipe", "pipe", "ignore"],
		});
		expect(raw).toContain("4711");
		const transport = way("login", bed());
		const answer = await transport.run("look", "id -un");
		expect(answer).toEqual({ code: 0, stdout: `${user}\n`, stderr: "" });
		await transport.close();
	});
});

describe.each(ways)("hosts that cannot be used, %s", (name, way) => {
	test("no such name", async () => {
		const problem = await failsWith(way, null, "nowhere.invalid");
		expect(problem).toMatchObject({ code: "host-unreachable", exit: "unreachable" });
		expect(problem.message).toContain("nowhere.invalid");
	});

	test("nobody listens", async () => {
		const problem = await failsWith(way, await sshConfig("Port 1"));
		expect(problem).toMatchObject({ code: "host-unreachable", exit: "unreachable" });
		expect(problem.message).toMatch(/Connection refused|ECONNREFUSED/);
	});

	test("a listener that says nothing", async () => {
		const silent = createServer().listen(0, "127.0.0.1");
		onTestFinished(() => void silent.close());
		await new Promise((resolve) => silent.on("listening", resolve));
		const { port } = silent.address() as { port: number };
		const transport = way("login", await sshConfig(`Port ${port}`));
		const problem = await problemOf(transport.run("look", "true", { timeoutMs: 2_000 }));
		expect(problem).toMatchObject({ exit: "unreachable" });
		await transport.close();
	});

	test("an unknown host key, with nobody to ask", async () => {
		const known = join(await tempFolder(), "known_hosts");
		const problem = await failsWith(
			way,
			await sshConfig(`UserKnownHostsFile ${known}`, "StrictHostKeyChecking ask"),
		);
		expect(problem).toMatchObject({ code: "host-key-unknown", exit: "unreachable" });
		expect(await exists(known)).toBe(false);
	});

	test("a changed host key", async () => {
		const folder = await tempFolder();
		execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, "other")]);
		const [kind, key] = (await readFile(join(folder, "other.pub"), "utf8")).split(" ");
		const known = join(folder, "known_hosts");
		await writeFile(known, `[127.0.0.1]:${clusterInfo().sshPort} ${kind} ${key}\n`);
		for (const checking of ["ask", "yes", "accept-new", ...(name === "ssh2" ? ["no"] : [])]) {
			const config = await sshConfig(`UserKnownHostsFile ${known}`, `StrictHostKeyChecking ${checking}`);
			expect(await failsWith(way, config)).toMatchObject({ code: "host-key-changed", exit: "unreachable" });
		}
	});

	test("a key that is not let in", async () => {
		const folder = await tempFolder();
		execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, "other")]);
		const problem = await failsWith(
			way,
			await sshConfig(`IdentityFile ${join(folder, "other")}`, `User nobody`),
		);
		expect(problem).toMatchObject({ code: "auth-failed", exit: "unreachable" });
		expect(problem.remedy).toContain(name === "ssh2" ? "ssh-add" : "ssh -F ");
	});
});

describe("master connections of openssh", () => {
	test("all exchanges share one, which ends with close", async () => {
		const folder = await tempFolder();
		const transport = openssh("login", bed(), { env: { ...process.env, TMPDIR: folder } });
		const args = ["-F", bed()];
		const connection = 'echo "$SSH_CONNECTION"';
		const first = await transport.run("look", connection);
		expect(await transport.run("look", connection)).toEqual(first);
		const [made] = await readdir(folder);
		const [socket] = await readdir(join(folder, made!));
		const check = ["-S", join(folder, made!, socket!), "-O", "check", "login"];
		const { stderr: said } = await runProgram("ssh", [...args, ...check]);
		const master = /pid=(\d+)/.exec(said)![1]!;
		expect(await exists(`/proc/${master}/exe`)).toBe(true);
		await transport.close();
		await waitFor(async () => !(await exists(`/proc/${master}/exe`)), "the master to end");
		expect(await readdir(folder)).toEqual([]);
	});

	test("the user's own is used and stays", async () => {
		const socket = join(await tempFolder(), "m");
		const config = await sshConfig(`ControlPath ${socket}`);
		const args = ["-F", config];
		execFileSync("ssh", [...args, "-M", "-N", "-f", "login"], { stdio: "ignore" });
		onTestFinished(() => void execFileSync("ssh", [...args, "-O", "exit", "login"], { stdio: "ignore" }));
		const connection = 'echo "$SSH_CONNECTION"';
		const through = execFileSync("ssh", [...args, "login", connection], { encoding: "utf8" });
		const transport = openssh("login", config);
		expect((await transport.run("look", connection)).stdout).toBe(through);
		await transport.close();
		expect(() => execFileSync("ssh", [...args, "-O", "check", "login"], { stdio: "ignore" })).not.toThrow();
	});

	test("works when TMPDIR is too deep for a socket", async () => {
		const deep = join(await tempFolder(), "x".repeat(90));
		const transport = openssh("login", bed(), { env: { ...process.env, TMPDIR: deep } });
		expect((await transport.run("look", "echo in")).stdout).toBe("in\n");
		await transport.close();
	});
});
