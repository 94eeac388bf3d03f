import {
	chmod,
	mkdir,
	mkdtemp,
	readdir,
	readFile,
	rename,
	rm,
	stat,
	symlink,
	truncate,
	writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { noPoints } from "../../../src/points.ts";
import { localStore } from "../../../state/backends/local.ts";
import { serializeState } from "../../../state/schema.ts";
import { firstState, sampleState } from "./support/documents.ts";
import { problemOf } from "./support/expect-problem.ts";
import { fakeWorld } from "./support/fake-world.ts";

const now = { timeoutSeconds: 0 };

async function place() {
	const parent = await mkdtemp(join(tmpdir(), "gym-state-"));
	onTestFinished(() => rm(parent, { recursive: true, force: true }));
	const directory = join(parent, ".gym");
	const world = fakeWorld();
	const store = localStore({ directory, writer: "0.1.0", host: world.host({ pid: 1 }), points: noPoints });
	return {
		parent,
		directory,
		world,
		store,
		file: (serial: number) => join(directory, "s", `state.${serial}.json`),
	};
}

/** A place whose stack `s` has the serials 1 and 2, and a free lock. */
async function written() {
	const all = await place();
	const lease = await all.store.acquire("s", "apply", now);
	await lease.write(await lease.write(firstState("s"), "intent"), "record");
	await lease.release();
	return all;
}

test("files and folders are for their owner only, and git ignores them", async () => {
	const { directory, store } = await place();
	const lease = await store.acquire("s", "apply", now);
	await lease.write(firstState("s"), "intent");
	const mode = async (...path: string[]) => (await stat(join(directory, ...path))).mode & 0o777;
	expect(await mode()).toBe(0o700);
	expect(await mode("s")).toBe(0o700);
	expect(await readFile(join(directory, ".gitignore"), "utf8")).toBe("*\n");
	const names = await readdir(join(directory, "s"));
	expect(names.sort()).toEqual(["lock.1.json", "state.1.json"]);
	for (const name of names) expect(await mode("s", name)).toBe(0o600);
});

test("reading makes nothing", async () => {
	const { parent, store } = await place();
	await store.read("s");
	await store.history("s");
	await store.stacks();
	expect(await readdir(parent)).toEqual([]);
});

test("a heartbeat leaves one whole lock file", async () => {
	const { directory, store, world } = await place();
	await store.acquire("s", "apply", now);
	await world.advance(25_000);
	expect(await readdir(join(directory, "s"))).toEqual(["lock.1.json"]);
	expect(await readFile(join(directory, "s", "lock.1.json"), "utf8")).toContain('"beat":2');
});

test("what a crash left of an old write is dropped in time", async () => {
	const { directory, store } = await written();
	const left = "state.2.json.01234567-89ab-cdef-0123-456789abcdef.tmp";
	await writeFile(join(directory, "s", left), "{");
	const lease = await store.acquire("s", "apply", now);
	for (let write = 0; write < 20; write++) await lease.write((await lease.read())!, "record");
	expect(await readdir(join(directory, "s"))).not.toContain(left);
});

describe("a newest serial that is broken is an error, not an earlier state", () => {
	test("cut off at any byte", async () => {
		const { store, file } = await written();
		const { size } = await stat(file(2));
		for (let bytes = size - 2; bytes >= 0; bytes -= 7) {
			await truncate(file(2), bytes);
			const error = await problemOf(() => store.read("s"), "failure", "state-unreadable");
			expect(error.problems[0]!.message).toContain(file(2));
			expect(error.problems[0]!.remedy).toContain("earlier serial");
		}
		const lease = await store.acquire("s", "apply", now);
		await problemOf(() => lease.read(), "failure", "state-unreadable");
		await problemOf(() => lease.write(firstState("s"), "intent"), "failure", "state-unreadable");
		expect((await store.history("s")).map(({ serial, writer }) => [serial, writer])).toEqual([
			[2, null],
			[1, "0.1.0"],
		]);
		await rename(file(2), `${file(2)}.broken`);
		expect(await store.read("s")).toMatchObject({ serial: 1 });
	});

	test.each<[string, (file: string) => Promise<void>]>([
		["not UTF-8", (file) => writeFile(file, Buffer.from([0x7b, 0xff, 0x7d]))],
		["of another stack", (file) => writeFile(file, serializeState({ ...sampleState("t"), serial: 2 }))],
		["of another serial", (file) => writeFile(file, serializeState({ ...sampleState("s"), serial: 1 }))],
		["a folder", async (file) => rm(file).then(() => mkdir(file))],
		["a link to nothing", async (file) => rm(file).then(() => symlink("nowhere", file))],
	])("%s", async (_, damage) => {
		const { store, file } = await written();
		await damage(file(2));
		await problemOf(() => store.read("s"), "failure", "state-unreadable");
	});

	test("of a newer format", async () => {
		const { store, file } = await written();
		await writeFile(file(2), JSON.stringify({ version: 2, writer: "9.1.0", rest: [] }));
		const error = await problemOf(() => store.read("s"), "failure", "state-newer");
		expect(error.problems[0]!.message).toContain("gymfile 9.1.0");
	});
});

describe("a place that cannot be read is an error, not empty", () => {
	test.each<[string, (at: { parent: string; directory: string }) => Promise<void>]>([
		["a file where the state directory belongs", ({ directory }) => writeFile(directory, "")],
		["a link to nothing as state directory", ({ directory }) => symlink("nowhere", directory)],
		["a loop of links", ({ directory }) => symlink(".gym", directory)],
		[
			"a file where the stack's folder belongs",
			({ directory }) => mkdir(directory).then(() => writeFile(join(directory, "s"), "")),
		],
		[
			"a link to nothing as the stack's folder",
			({ directory }) => mkdir(directory).then(() => symlink("nowhere", join(directory, "s"))),
		],
	])("%s", async (_, spoil) => {
		const at = await place();
		await spoil(at);
		await problemOf(() => at.store.read("s"), "failure", "state-unreadable");
		await problemOf(() => at.store.history("s"), "failure", "state-unreadable");
		await problemOf(() => at.store.acquire("s", "apply", now), "failure", "state-unreadable");
	});

	test("a folder without permission", async () => {
		const { directory, store } = await written();
		await chmod(join(directory, "s"), 0);
		onTestFinished(() => chmod(join(directory, "s"), 0o700));
		await asOrdinaryUser(() => problemOf(() => store.read("s"), "failure", "state-unreadable"));
	});
});

test("a place that cannot be written is an error and leaves no lock", async () => {
	const { parent, directory, store } = await place();
	await mkdir(directory);
	await chmod(parent, 0o755);
	await chmod(directory, 0o555);
	await asOrdinaryUser(async () => {
		const error = await problemOf(() => store.acquire("s", "apply", now), "failure", "state-unwritable");
		expect(error.problems[0]!.message).toContain("EACCES");
		expect(await store.read("s")).toBeNull();
	});
	await chmod(directory, 0o755);
	expect((await store.acquire("s", "apply", now)).tookOver).toBeNull();
});

test("a file beside the stacks is no stack", async () => {
	const { directory, store } = await written();
	await writeFile(join(directory, "notes"), "");
	expect(await store.stacks()).toEqual(["s"]);
});

test("a lock that cannot be read is held, not free", async () => {
	const { directory, store } = await place();
	await store.acquire("s", "apply", now);
	const lock = join(directory, "s", "lock.1.json");
	for (const text of [
		"",
		"{}",
		'{"version":2,"holder":null}',
		(await readFile(lock, "utf8")).replace("alice", "\\u001b[2J"),
	]) {
		await writeFile(lock, text);
		const error = await problemOf(() => store.acquire("s", "apply", now), "failure", "lock-unreadable");
		expect(error.problems[0]!.message).toContain(lock);
	}
});

test("a takeover that cannot read the state gives the lock back", async () => {
	const { directory, store, world, file } = await written();
	await writeFile(file(2), "{");
	const other = localStore({ directory, writer: "0.1.0", host: world.host({ pid: 2 }), points: noPoints });
	await other.acquire("s", "apply", now);
	world.kill(2);
	await problemOf(() => store.acquire("s", "apply", now), "failure", "state-unreadable");
	expect((await store.acquire("s", "state", now)).tookOver).toBeNull();
});

/** Root may read everything, so root becomes `nobody` meanwhile. */
async function asOrdinaryUser(action: () => Promise<unknown>): Promise<void> {
	const root = process.geteuid?.() === 0;
	if (root) process.seteuid?.(65534);
	try {
		await action();
	} finally {
		if (root) process.seteuid?.(0);
	}
}
