import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { noPoints } from "../../../src/points.ts";
import { thisHost } from "../../../state/backends/host.ts";
import { localStore } from "../../../state/backends/local.ts";
import { buildContender, startContender } from "./support/contenders.ts";

let folder: string;
let program: string;

beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), "gym-contender-"));
	program = await buildContender(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function place() {
	const directory = join(await mkdtemp(join(folder, "place-")), ".gym");
	const store = localStore({ directory, writer: "0.1.0", host: thisHost(), points: noPoints });
	const start = async (mode: string, argument = "") => {
		const contender = await startContender(program, mode, directory, argument);
		onTestFinished(() => contender.kill());
		return contender;
	};
	return { directory, store, start };
}

test("of processes racing for the lock one wins; when it is killed one of the next takes over at once", async () => {
	const { start } = await place();
	const first = await Promise.all([start("lock"), start("lock"), start("lock")]);
	for (const contender of first) contender.begin();
	const outcomes = await Promise.all(first.map((contender) => contender.outcome()));
	const winner = outcomes.indexOf("won free");
	expect(outcomes.filter((outcome) => outcome?.startsWith("won"))).toEqual(["won free"]);
	const lost = outcomes.filter((_, index) => index !== winner);
	for (const outcome of lost) expect(outcome).toContain(`pid ${first[winner]!.pid}`);
	await Promise.all(first.map((contender) => contender.kill()));

	const second = await Promise.all([start("lock"), start("lock"), start("lock")]);
	for (const contender of second) contender.begin();
	const later = await Promise.all(second.map((contender) => contender.outcome()));
	expect(later.filter((outcome) => outcome?.startsWith("won"))).toEqual([`won ${first[winner]!.pid}`]);
});

test("of processes making the same serial exactly one does", async () => {
	const { start } = await place();
	for (const serial of ["1", "2", "3"]) {
		const contenders = await Promise.all([
			start("serial", serial),
			start("serial", serial),
			start("serial", serial),
		]);
		for (const contender of contenders) contender.begin();
		const outcomes = await Promise.all(contenders.map((contender) => contender.outcome()));
		expect(outcomes.sort()).toEqual(["lost", "lost", "won"]);
	}
});

test.each([
	["lock.acquired", 0],
	["state.intent.before", 0],
	["state.intent.staged", 0],
	["state.intent.linked", 1],
	["lock.release", 1],
])(
	"a process killed at %s leaves whole serials and a lock that the next one takes over",
	async (point, serial) => {
		const { store, start } = await place();
		const contender = await start("crash", point);
		contender.begin();
		expect(await contender.outcome()).toBeNull();
		await contender.kill();
		expect((await store.read("s"))?.serial ?? 0).toBe(serial);
		const lease = await store.acquire("s", "apply", { timeoutSeconds: 0 });
		expect(lease.tookOver?.pid).toBe(contender.pid);
		const fenced = await lease.read();
		expect(fenced?.serial).toBe(serial + 1);
		expect((await lease.write(fenced!, "record")).serial).toBe(serial + 2);
		await lease.release();
	},
);

test("a lock whose holder lives is not taken over", async () => {
	const { store, start } = await place();
	const contender = await start("lock");
	contender.begin();
	expect(await contender.outcome()).toBe("won free");
	await expect(store.acquire("s", "apply", { timeoutSeconds: 0 })).rejects.toThrow(`pid ${contender.pid}`);
});
