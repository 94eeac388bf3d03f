/** Programs of the gateway's tests: simulated nodes, the gateway itself, clients of it. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const GATEWAY = new URL("../../src/job/assets/gateway.py", import.meta.url).pathname;
const SETUP = new URL("../setup/gateway", import.meta.url).pathname;
const STUBS = new URL("../setup/stubs", import.meta.url).pathname;

/** What a stub wrote down about how it was started. */
export interface Record {
	readonly argv: readonly string[];
	readonly pid: number;
	/** The simulated node it ran on. */
	readonly node: string;
	readonly env: { readonly [name: string]: string };
}

/** A program that runs, and all it has said. */
export interface Program {
	readonly process: ChildProcess;
	/** Exit code, or the signal's name. */
	readonly end: Promise<number | string>;
	readonly said: () => string;
}

/** A folder with what the stubs are told and what they note. */
export interface World {
	readonly folder: string;
	readonly env: { readonly [name: string]: string };
	readonly python: string;
	readonly file: (...parts: readonly string[]) => string;
}

/** Installs what is missing, and makes a world whose stubs wait for `gate/open`. */
export async function makeWorld(answers: { readonly [part: string]: string }): Promise<World> {
	const { stdout } = await run(join(SETUP, "install"), []);
	const venv = join(stdout.trim(), "venv/bin");
	// Short: Ray puts sockets below it.
	const folder = await mkdtemp("/tmp/gw");
	const file = (...parts: readonly string[]) => join(folder, ...parts);
	for (const name of ["record", "gate", "pen"]) await mkdir(file(name));
	await writeFile(file("answers.json"), JSON.stringify(answers));
	const env = {
		PATH: `${STUBS}:${venv}:/usr/bin:/bin`,
		HOME: folder,
		RAY_TMPDIR: folder,
		RAY_USAGE_STATS_ENABLED: "0",
		STUB_RECORD: file("record"),
		STUB_GATE: file("gate"),
		STUB_PEN: file("pen"),
		STUB_ANSWERS: file("answers.json"),
	};
	return { folder, env, python: join(venv, "python"), file };
}

/** Removes a world whose programs have ended. */
export async function removeWorld({ folder }: World): Promise<void> {
	await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

function start(world: World, words: readonly string[], env: { readonly [name: string]: string }): Program {
	const process = spawn(world.python, words, {
		env: { ...world.env, ...env },
		stdio: ["pipe", "pipe", "pipe"],
	});
	let said = "";
	for (const stream of [process.stdout, process.stderr]) stream.on("data", (data) => (said += String(data)));
	const end = once(process, "close").then(([code, signal]) => code ?? signal);
	return { process, end, said: () => said };
}

/** Starts so many simulated nodes; they run until the program's input ends. */
export async function startNodes(world: World, count: number, gpus: number): Promise<[Program, string]> {
	const nodes = start(world, [join(SETUP, "nodes.py"), String(count), String(gpus)], {});
	let address: string | undefined;
	await until(() => {
		if (nodes.process.exitCode !== null) throw new Error(nodes.said());
		address = /^[\d.]+:\d+$/m.exec(nodes.said())?.[0];
		return address;
	});
	return [nodes, address!];
}

/** Starts the gateway; `words` follow the model and the port. */
export async function startGateway(
	world: World,
	words: readonly string[],
	env: { readonly [name: string]: string },
): Promise<[Program, number]> {
	const server = createServer().listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as { port: number };
	server.close();
	await once(server, "close");
	const all = ["--model", "acme/talker", "--port", String(port), ...words];
	return [start(world, [GATEWAY, ...all], env), port];
}

/** The gateway's words for so many instances on nodes with so many GPUs. */
export function shape(instances: number, gpusPerNode: number, tensor = 1): readonly string[] {
	return [
		...["--tensor-parallel-size", String(tensor), "--pipeline-parallel-size", "1"],
		...["--number-of-instances", String(instances), "--gpus-per-node", String(gpusPerNode)],
	];
}

/** As the job's script passes the servers' own words on. */
export async function quotedByBash(words: readonly string[]): Promise<string> {
	const { stdout } = await run("bash", ["-c", `printf %s "\${*@Q}"`, "bash", ...words]);
	return stdout;
}

/** Waits until something holds, asking again and again; the test's own limit ends it. */
export async function until<T>(what: () => T | Promise<T>): Promise<NonNullable<T>> {
	for (;;) {
		const found = await what();
		if (found) return found;
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

/** Records of all stubs started so far, in no order. */
export async function records(world: World): Promise<readonly Record[]> {
	const names = (await readdir(world.file("record"))).filter((name) => name.endsWith(".json"));
	return Promise.all(
		names.map(async (name) => {
			const record = JSON.parse(await readFile(world.file("record", name), "utf8"));
			return { ...record, node: record.env.RAY_RAYLET_PID };
		}),
	);
}

/** The process's parent, or null when it is gone. */
export async function parentOf(pid: number): Promise<number | null> {
	try {
		const stat = await readFile(`/proc/${pid}/stat`, "utf8");
		const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		return state === "Z" ? null : Number(parent);
	} catch {
		return null;
	}
}

/** An answer, whole. */
export interface Answer {
	readonly status: number;
	readonly headers: IncomingMessage["headers"];
	readonly body: Buffer;
}

/** A request whose answer can be looked at as it comes. */
export interface Call {
	readonly request: ClientRequest;
	/** All that has come so far. */
	readonly soFar: () => Buffer;
	/** Resolves with the first piece of the body, and the stub that sent it. */
	readonly first: Promise<{ readonly pid: number }>;
	/** The whole answer; rejects when the connection ends early. */
	readonly done: Promise<Answer>;
}

/** Sends a request on a connection of its own. */
export function call(
	port: number,
	path: string,
	{
		method = "GET",
		headers = {},
		body = "",
	}: { method?: string; headers?: object; body?: string | Buffer } = {},
): Call {
	const request = httpRequest({
		host: "127.0.0.1",
		port,
		path,
		method,
		headers: { ...headers },
		agent: false,
	});
	const pieces: Buffer[] = [];
	const response = once(request, "response").then(([incoming]) => incoming as IncomingMessage);
	const done = response.then(async (incoming) => {
		incoming.on("data", (piece) => pieces.push(piece));
		await once(incoming, "end");
		return { status: incoming.statusCode!, headers: incoming.headers, body: Buffer.concat(pieces) };
	});
	const first = response.then(async (incoming) => {
		await once(incoming, "data");
		return { pid: Number(incoming.headers["x-stub-pid"]) };
	});
	// Each is awaited only by some tests.
	first.catch(() => {});
	done.catch(() => {});
	request.on("error", () => {});
	request.end(body);
	return { request, soFar: () => Buffer.concat(pieces), first, done };
}

/** A streamed chat request; the stubs note it under its user's name. */
export function stream(port: number, user: string, prompt: string): Call {
	const body = JSON.stringify({
		model: "m",
		stream: true,
		user,
		messages: [{ role: "user", content: prompt }],
	});
	const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
	return call(port, "/v1/chat/completions", { method: "POST", headers, body });
}

/** Status of the gateway's own health. */
export async function healthOf(port: number): Promise<number> {
	return (await call(port, "/health").done).status;
}
