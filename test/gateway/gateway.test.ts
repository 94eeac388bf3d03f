/** The gateway program with the real Ray, two simulated nodes and the stub vllm; its tests go on from each other. */
import { existsSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
	call,
	healthOf,
	makeWorld,
	type Program,
	parentOf,
	quotedByBash,
	type Record,
	records,
	removeWorld,
	shape,
	startGateway,
	startNodes,
	stream,
	until,
	type World,
} from "./world.ts";

const EXTRA = [
	"--max-model-len",
	"4096",
	"--config",
	`{"a": "it's"}`,
	"two\nlines",
	"\x1b[1m é",
	"",
	"$HOME `x` \\",
];
const REQUESTS = 200;

/** Long enough to leave no stream in one packet, different for each request, and not only ASCII. */
const answers = Object.fromEntries(
	Array.from({ length: REQUESTS }, (_, i) => [`<q${i}>`, `ä${i} `.repeat(50 + i).trim()]),
);

/** How often each value comes, lowest first. */
const sizes = (values: readonly (string | number)[]) =>
	[...new Set(values)].map((one) => values.filter((value) => value === one).length).sort((a, b) => a - b);
const portOf = ({ argv }: Record) => Number(argv[argv.indexOf("--port") + 1]);
const gone = async (pids: readonly number[]) =>
	(await Promise.all(pids.map(parentOf))).every((is) => is === null);

describe("three replicas on two nodes", () => {
	let world: World;
	let nodes: Program;
	let gateway: Program;
	let port: number;
	/** Pids of the servers that live, lowest first. */
	const living = async () => {
		const all = await records(world);
		const parents = await Promise.all(all.map(({ pid }) => parentOf(pid)));
		return all.filter((_, i) => parents[i] !== null).sort((a, b) => a.pid - b.pid);
	};
	const kill = async (pid: number) => {
		process.kill(pid, "SIGKILL");
		await until(async () => (await parentOf(pid)) === null);
	};
	/** Waits until this many servers, all of them living, get requests. */
	const served = async (count: number) =>
		until(async () => {
			const now = (await living()).map(({ pid }) => pid);
			const some = Array.from({ length: count * 2 }, () => call(port, "/v1/models").first);
			const pids = new Set((await Promise.all(some)).map(({ pid }) => pid));
			return now.length === count && now.every((pid) => pids.has(pid));
		});
	const perNode = async () => {
		return sizes((await living()).map(({ node }) => node));
	};

	beforeAll(async () => {
		world = await makeWorld(answers);
		const [started, address] = await startNodes(world, 2, 2);
		nodes = started;
		const words = [...shape(3, 2), "--served-model-name", "talker", "--trust-remote-code"];
		const extra = ["--extra-args", await quotedByBash(EXTRA)];
		[gateway, port] = await startGateway(world, [...words, ...extra], { RAY_ADDRESS: address });
	});

	afterAll(async () => {
		gateway?.process.kill("SIGTERM");
		await gateway?.end;
		nodes?.process.stdin?.end();
		await nodes?.end;
		await removeWorld(world);
	});

	it("is healthy only once a replica serves", async () => {
		await until(async () => {
			if (gateway.process.exitCode !== null) throw new Error(gateway.said());
			return (await records(world)).length === 3;
		});
		expect(await healthOf(port)).toBe(503);
		const refused = await stream(port, "early", "x").done;
		expect([refused.status, JSON.parse(String(refused.body)).error.code]).toEqual([503, 503]);
		expect((await call(port, "/metrics").done).status).toBe(503);

		await writeFile(world.file("gate", "open"), "");
		await until(async () => (await healthOf(port)) === 200);
		await served(3);
	});

	it("gives each server its words, the user's last, and the cluster", async () => {
		for (const { argv, env } of await records(world)) {
			expect(argv).toEqual([
				...["vllm", "serve", "acme/talker", "--port", expect.stringMatching(/^\d+$/)],
				...["--tensor-parallel-size", "1", "--served-model-name", "talker", "--trust-remote-code"],
				...["--distributed-executor-backend", "ray", ...EXTRA],
			]);
			expect(env.RAY_ADDRESS).toMatch(/^[\d.]+:\d+$/);
		}
	});

	it("puts no more on a node than its GPUs allow", async () => {
		expect(await perNode()).toEqual([1, 2]);
	});

	it("passes any request on as it is", async () => {
		const body = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7) % 256));
		const chunked = {
			"Transfer-Encoding": "chunked",
			"X-Own": "a, b",
			Connection: "close, X-Hop",
			"X-Hop": "1",
		};
		const sized = { "Content-Length": body.length, "Content-Encoding": "gzip", Authorization: "Bearer x" };
		for (const [method, headers] of [
			["PUT", chunked],
			["POST", sized],
		] as const) {
			const path = "/stub/echo?a=%2F%20&b=+;c";
			const answer = await call(port, path, { method, headers, body }).done;
			const seen = JSON.parse(String(answer.body));
			expect([answer.status, seen.method, seen.path]).toEqual([200, method, path]);
			expect(Buffer.from(seen.body, "base64").equals(body)).toBe(true);
			const names = seen.headers.map(([name]: [string]) => name.toLowerCase());
			expect(names).not.toContain("x-hop");
			const own = Object.entries(headers).filter(([name]) => !/^(transfer|connection|x-hop)/i.test(name));
			for (const [name, text] of own) expect(seen.headers).toContainEqual([name, String(text)]);
		}
		expect((await call(port, "/stub/echo", { method: "DELETE" }).done).status).toBe(200);
		expect((await call(port, "/none").done).status).toBe(404);
	});

	it("joins the metrics of the replicas", async () => {
		const { body, headers } = await call(port, "/metrics").done;
		const name = "vllm:stub_start_time_seconds";
		const pids = (await living()).map(({ pid }) => pid);
		expect(headers["content-type"]).toMatch(/^text\/plain; version=0.0.4/);
		const lines = String(body).split("\n");
		const samples = [0, 1, 2].map((i) => `${name}{replica="${i}",model_name="talker"} 1.5`);
		expect(lines.slice(0, 2)).toEqual([`# HELP ${name} Start.`, `# TYPE ${name} gauge`]);
		expect(lines.filter((line) => line.startsWith("#"))).toHaveLength(2);
		expect(lines).toEqual(expect.arrayContaining(samples));
		const told = [0, 1, 2].map((i) => String(body).match(`stub_pid\\{replica="${i}"\\} (\\d+)`)?.[1]);
		expect(told.map(Number).sort((a, b) => a - b)).toEqual(pids);
	});

	it("passes the pieces of a stream on as they come, and a client's leaving", async () => {
		const [stays, leaves] = [stream(port, "stays", "<q3>"), stream(port, "leaves", "<q3>")];
		await Promise.all([stays.first, leaves.first]);
		expect(String(stays.soFar())).toBe(`data: {"choices": [{"index": 0, "delta": {"content": "ä3 "}}]}\n\n`);
		leaves.request.destroy();
		await until(() => existsSync(world.file("pen", "gone-leaves")));
		expect(existsSync(world.file("pen", "gone-stays"))).toBe(false);

		await writeFile(world.file("pen", "open"), "");
		const { body, headers } = await stays.done;
		expect(String(body)).toMatch(/\ndata: \[DONE\]\n\n$/);
		expect(headers["content-type"]).toBe("text/event-stream");
		await rm(world.file("pen", "open"));
	});

	it("sends nothing to a replica that says it is not well, until it is", async () => {
		const [one] = await living();
		await writeFile(world.file("pen", `sick-${one!.pid}`), "");
		await until(() => /replica \d does not serve/.test(gateway.said()));
		const answers = Array.from({ length: 9 }, () => call(port, "/v1/models").first);
		expect((await Promise.all(answers)).map(({ pid }) => pid)).not.toContain(one!.pid);
		expect(await healthOf(port)).toBe(200);
		await rm(world.file("pen", `sick-${one!.pid}`));
		await served(3);
	});

	it.each(["GET", "POST"])("never sends a %s again that reached a replica", async (method) => {
		const before = (await readdir(world.file("pen"))).length;
		const answer = await call(port, "/stub/drop", { method }).done;
		expect(answer.status).toBe(502);
		expect(JSON.parse(String(answer.body)).error.message).toMatch(
			/replica \d at http:\S+ failed before it answered/,
		);
		expect((await readdir(world.file("pen"))).length).toBe(before + 1);
	});

	it("sends a request that could not reach a replica to another", async () => {
		const [one] = await living();
		await call(portOf(one!), "/stub/deaf", { method: "POST" }).done;
		const sent = Array.from({ length: 30 }, () => call(port, "/v1/models").done);
		expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(sent.map(() => 200));
		await kill(one!.pid);
		await served(3);
		expect(await perNode()).toEqual([1, 2]);
	});

	it("loses with a killed replica only the requests that were on it", async () => {
		const calls = Array.from({ length: REQUESTS }, (_, i) => stream(port, `many${i}`, `<q${i}>`));
		const on = (await Promise.all(calls.map(({ first }) => first))).map(({ pid }) => pid);
		const [, victim, other] = await living();
		expect(sizes(on)).toEqual([66, 67, 67]);
		await kill(victim!.pid);
		const lost = await Promise.allSettled(
			calls.filter((_, i) => on[i] === victim!.pid).map(({ done }) => done),
		);
		expect(new Set(lost.map(({ status }) => status))).toEqual(new Set(["rejected"]));
		expect(await healthOf(port)).toBe(200);

		await writeFile(world.file("pen", "open"), "");
		await Promise.all(
			calls.map(async ({ done }, i) => {
				if (on[i] === victim!.pid) return;
				const [{ body }, direct] = await Promise.all([
					done,
					stream(portOf(other!), `direct${i}`, `<q${i}>`).done,
				]);
				expect(body.equals(direct.body)).toBe(true);
			}),
		);
		await served(3);
		expect(await perNode()).toEqual([1, 2]);
	});

	it("ends the server of an actor that is killed, and starts another", async () => {
		const [one] = await living();
		await kill((await parentOf(one!.pid))!);
		await until(() => gone([one!.pid]));
		await served(3);
	});

	it("leaves nothing running when it is told to end", async () => {
		gateway.process.kill("SIGTERM");
		expect(await gateway.end).toBe(143);
		expect(await gone((await records(world)).map(({ pid }) => pid))).toBe(true);
		expect(nodes.process.exitCode).toBe(null);
	});
});
