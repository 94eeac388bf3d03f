/** What every `StateStore` does, whatever keeps it. */
import { describe, expect, test } from "vitest";
import { noPoints, type Points } from "../../../src/points.ts";
import type { Host } from "../../../state/host.ts";
import type { Lease, StateStore } from "../../../state/store.ts";
import { firstState } from "./support/documents.ts";
import { problemOf } from "./support/expect-problem.ts";
import { type FakeWorld, fakeWorld } from "./support/fake-world.ts";

/** Opens one more client of one and the same, at first empty, place. */
export type OpenStore = (context: { host: Host; points: Points; writer: string }) => StateStore;

/** Runs the contract; `place` makes a new empty place for each test. */
export function storeContract(name: string, place: () => Promise<OpenStore>): void {
	describe(`${name} store`, () => {
		const setup = async () => {
			const open = await place();
			const world = fakeWorld();
			const client = (
				pid: number,
				facts: { hostname?: string; bootId?: string | null } = {},
				points = noPoints,
			) => open({ host: world.host({ pid, ...facts }), points, writer: "0.1.0" });
			return { world, client, open };
		};
		const now = { timeoutSeconds: 0 };

		test("a stack that was never written has no state, no history and is not listed", async () => {
			const { client } = await setup();
			expect(await client(1).read("s")).toBeNull();
			expect(await client(1).history("s")).toEqual([]);
			expect(await client(1).stacks()).toEqual([]);
			const lease = await client(1).acquire("s", "plan", now);
			expect(await lease.read()).toBeNull();
			await lease.release();
			expect(await client(1).read("s")).toBeNull();
			expect(await client(1).stacks()).toEqual([]);
		});

		test("the first write makes serial 1 and a lineage, later ones keep it and add 1", async () => {
			const { client } = await setup();
			const lease = await client(1).acquire("s", "apply", now);
			const first = await lease.write(firstState("s"), "intent");
			expect(first).toMatchObject({ serial: 1, stack: "s", writer: "0.1.0" });
			expect(first.lineage).not.toBe("");
			expect(first.fence).toBeGreaterThan(0);
			const second = await lease.write({ ...first, benchmarks: new Map() }, "record");
			expect(second).toMatchObject({ serial: 2, lineage: first.lineage, fence: first.fence });
			expect(await lease.read()).toEqual(second);
			expect(await client(2).read("s")).toEqual(second);
			expect(await client(2).stacks()).toEqual(["s"]);
			const history = await client(2).history("s");
			expect(history.map(({ serial, writer }) => [serial, writer])).toEqual([
				[2, "0.1.0"],
				[1, "0.1.0"],
			]);
			expect(history[1]!.bytes).toBeGreaterThan(history[0]!.bytes);
		});

		test("a write based on an older serial or another lineage is refused and changes nothing", async () => {
			const { client } = await setup();
			const lease = await client(1).acquire("s", "apply", now);
			const first = await lease.write(firstState("s"), "intent");
			const second = await lease.write(first, "record");
			await problemOf(() => lease.write(first, "record"), "stale", "state-moved");
			await problemOf(() => lease.write(firstState("s"), "record"), "stale", "state-moved");
			await problemOf(() => lease.write({ ...second, lineage: "other" }, "record"), "stale", "state-moved");
			expect(await client(2).read("s")).toEqual(second);
		});

		test("of several writes based on the same serial exactly one wins", async () => {
			const { client } = await setup();
			const lease = await client(1).acquire("s", "apply", now);
			const outcomes = await Promise.allSettled(
				["a", "b", "c", "d"].map((benchmark) => lease.write(firstState("s", benchmark), "intent")),
			);
			const won = outcomes.filter((outcome) => outcome.status === "fulfilled");
			expect(won).toHaveLength(1);
			expect(await client(2).read("s")).toEqual(won[0]!.value);
		});

		test("a held lock refuses others, naming its holder, and stays", async () => {
			const { client } = await setup();
			const lease = await client(1, { hostname: "login7" }).acquire("s", "apply", now);
			expect(lease.tookOver).toBeNull();
			for (const pid of [2, 3]) {
				const error = await problemOf(() => client(pid).acquire("s", "plan", now), "locked", "state-locked");
				expect(error.problems[0]!.message).toMatch(/alice on login7 \(apply, pid 1, lock .*, heartbeat 0\)/);
				expect(error.problems[0]!.remedy).toContain(`gym state unlock s ${lease.holder.id}`);
			}
			expect(await lease.write(firstState("s"), "intent")).toMatchObject({ serial: 1 });
		});

		test("stacks are locked apart", async () => {
			const { client } = await setup();
			await client(1).acquire("a", "apply", now);
			await client(2).acquire("b", "apply", now);
		});

		test("of several that ask at once exactly one gets the lock", async () => {
			const { client } = await setup();
			const outcomes = await Promise.allSettled(
				[1, 2, 3, 4, 5].map((pid) => client(pid).acquire("s", "apply", now)),
			);
			expect(outcomes.filter((outcome) => outcome.status === "fulfilled")).toHaveLength(1);
		});

		test("a lock given back is free, and its old lease can no longer write", async () => {
			const { client } = await setup();
			const lease = await client(1).acquire("s", "apply", now);
			const first = await lease.write(firstState("s"), "intent");
			await lease.release();
			await problemOf(() => lease.write(first, "record"), "stale", "state-moved");
			const next = await client(2).acquire("s", "apply", now);
			expect(next.tookOver).toBeNull();
			expect(await next.read()).toEqual(first);
			expect((await next.write(first, "record")).fence).toBeGreaterThan(first.fence);
		});

		test("a wait ends when the lock is given back", async () => {
			const { client, world } = await setup();
			const lease = await client(1).acquire("s", "apply", now);
			const end = world.host({ pid: 1 }).every(5_000, () => lease.release());
			const next = await client(2).acquire("s", "apply", { timeoutSeconds: 30 });
			end();
			expect(next.tookOver).toBeNull();
		});

		test("a wait that runs out says timed out, and a holder whose heart beats is never taken over", async () => {
			const { client } = await setup();
			await client(1, { hostname: "far", bootId: null }).acquire("s", "apply", now);
			const wait = () => client(2).acquire("s", "apply", { timeoutSeconds: 600 });
			const error = await problemOf(wait, "timedOut", "state-locked");
			expect(error.problems[0]!.message).toContain("heartbeat 60");
		});

		test("a holder that stood still for the TTL is taken over and fenced", async () => {
			const { client, world } = await setup();
			const old = await client(1, { hostname: "far", bootId: "boot-9" }).acquire("s", "apply", now);
			const first = await old.write(firstState("s"), "intent");
			world.stop(1);
			await problemOf(
				() => client(2).acquire("s", "plan", { timeoutSeconds: 59 }),
				"timedOut",
				"state-locked",
			);
			const next = await client(2).acquire("s", "apply", { timeoutSeconds: 61 });
			expect(next.tookOver).toMatchObject({ id: old.holder.id, host: "far", operation: "apply" });
			const fenced = await client(3).read("s");
			expect(fenced).toEqual({ ...first, serial: 2, fence: first.fence + 1 });
			await problemOf(() => old.write(first, "record"), "stale", "state-moved");
			await problemOf(() => old.write(fenced!, "record"), "stale", "state-moved");
			await old.release();
			await problemOf(() => client(3).acquire("s", "plan", now), "locked", "state-locked");
			expect(await next.write(fenced!, "record")).toMatchObject({ serial: 3 });
		});

		test("taking over before the first state keeps the old holder from making one", async () => {
			const { client, world } = await setup();
			const old = await client(1).acquire("s", "apply", now);
			world.kill(1);
			const next = await client(2).acquire("s", "apply", now);
			await problemOf(() => old.write(firstState("s"), "intent"), "stale", "state-moved");
			expect(await next.read()).toMatchObject({ serial: 1, benchmarks: new Map() });
		});

		test("a holder stopped in the middle of a write loses to whoever took over", async () => {
			const { client, world } = await setup();
			const others: Lease[] = [];
			const points: Points = {
				async reach(point) {
					if (point !== "state.intent.staged") return;
					world.stop(1);
					others.push(await client(2).acquire("s", "apply", { timeoutSeconds: 100 }));
				},
			};
			const old = await client(1, { hostname: "far" }, points).acquire("s", "apply", now);
			await problemOf(() => old.write(firstState("s"), "intent"), "stale", "state-moved");
			expect(await others[0]!.read()).toMatchObject({ serial: 1, benchmarks: new Map() });
		});

		test.each(["state.intent.before", "state.intent.staged"])(
			"a holder that slept through many serials at %s does not bring an old one back",
			async (nap) => {
				const { client, world } = await setup();
				const points: Points = {
					async reach(point) {
						if (point !== nap) return;
						world.kill(1);
						const other = await client(2).acquire("s", "apply", now);
						for (let write = 0; write < 50; write++) await other.write((await other.read())!, "record");
					},
				};
				const old = await client(1, {}, points).acquire("s", "apply", now);
				await problemOf(() => old.write(firstState("s"), "intent"), "stale", "state-moved");
				expect(await client(3).read("s")).toMatchObject({ serial: 51, benchmarks: new Map() });
			},
		);

		test("of several observers exactly one takes over, and its lock holds", async () => {
			const { client, world } = await setup();
			await client(1).acquire("s", "apply", now);
			world.kill(1);
			const outcomes = await Promise.allSettled(
				[2, 3, 4, 5].map((pid) => client(pid).acquire("s", "apply", now)),
			);
			const won = outcomes.filter((outcome) => outcome.status === "fulfilled");
			expect(won).toHaveLength(1);
			expect(won[0]!.value.tookOver).toMatchObject({ pid: 1 });
			await won[0]!.value.write((await client(9).read("s"))!, "record");
		});

		describe("a dead holder", () => {
			test("on this host and boot is taken over at once", async () => {
				const { client, world } = await setup();
				await client(1).acquire("s", "apply", now);
				world.kill(1);
				expect((await client(2).acquire("s", "apply", now)).tookOver).toMatchObject({ pid: 1 });
			});

			test("whose pid was given to another process is taken over at once", async () => {
				const { client, world } = await setup();
				await client(1).acquire("s", "apply", now);
				world.kill(1);
				world.host({ pid: 1, startTime: "later" });
				expect((await client(2).acquire("s", "apply", now)).tookOver).toMatchObject({ pid: 1 });
			});

			test.each([
				["another host", { hostname: "login2" }],
				["another boot", { bootId: "boot-2" }],
				["an unknown boot", { bootId: null }],
			])("of %s is not known to be dead", async (_, facts) => {
				const { client, world } = await setup();
				await client(1, facts).acquire("s", "apply", now);
				world.kill(1);
				await problemOf(() => client(2).acquire("s", "apply", now), "locked", "state-locked");
			});
		});

		test("unlock ends exactly the lock with that id and fences its holder", async () => {
			const { client } = await setup();
			const lease = await client(1).acquire("s", "apply", now);
			const first = await lease.write(firstState("s"), "intent");
			const error = await problemOf(() => client(2).unlock("s", "nope"), "failure", "lock-unknown");
			expect(error.problems[0]!.message).toContain(lease.holder.id);
			await problemOf(() => client(2).acquire("s", "apply", now), "locked", "state-locked");
			await client(2).unlock("s", lease.holder.id);
			await problemOf(() => lease.write(first, "record"), "stale", "state-moved");
			await problemOf(() => client(2).unlock("s", lease.holder.id), "failure", "lock-unknown");
			const next = await client(2).acquire("s", "apply", now);
			expect(await next.read()).toMatchObject({ serial: 2, benchmarks: first.benchmarks });
		});

		test("names that are no folder names are stacks of their own", async () => {
			const { client } = await setup();
			const names = [
				"",
				".",
				"..",
				"../x",
				"a/b",
				"A",
				"a",
				"%61",
				"__proto__",
				".gitignore",
				"ü",
				"a\nb",
				"-rf",
				"~",
			];
			for (const name of names) {
				const lease = await client(1).acquire(name, "apply", now);
				await lease.write(firstState(name, `of ${name}`), "intent");
				await lease.release();
			}
			expect(await client(1).stacks()).toEqual([...names].sort());
			for (const name of names) {
				expect([...(await client(1).read(name))!.benchmarks.keys()]).toEqual([`of ${name}`]);
			}
		});

		test("the newest 20 serials are kept", async () => {
			const { client } = await setup();
			const lease = await client(1).acquire("s", "apply", now);
			let state = await lease.write(firstState("s"), "intent");
			while (state.serial < 25) state = await lease.write(state, "record");
			const serials = (await client(2).history("s")).map(({ serial }) => serial);
			expect(serials).toEqual(Array.from({ length: 20 }, (_, index) => 25 - index));
		});

		test("many locks in a row leave the lock usable", async () => {
			const { client } = await setup();
			for (let round = 0; round < 30; round++) await (await client(1).acquire("s", "plan", now)).release();
			const lease = await client(1).acquire("s", "apply", now);
			await problemOf(() => client(2).acquire("s", "apply", now), "locked", "state-locked");
			await lease.release();
			await client(2).acquire("s", "apply", now);
		});

		test("every write, lock and release passes its points in order", async () => {
			const { client } = await setup();
			const reached: string[] = [];
			const points: Points = { reach: async (point) => void reached.push(point) };
			const lease = await client(1, {}, points).acquire("s", "apply", now);
			await lease.write(firstState("s"), "intent");
			await lease.release();
			expect(reached).toEqual([
				"lock.acquired",
				"state.intent.before",
				"state.intent.staged",
				"state.intent.linked",
				"lock.release",
			]);
		});

		test.each([
			["lock.acquired", 1],
			["state.record.before", 1],
			["state.record.staged", 1],
			["state.record.linked", 2],
			["lock.release", 2],
		])("after a crash at %s the state is whole and the next one goes on", async (crash, serial) => {
			const { client, world } = await setup();
			const before = await client(9).acquire("s", "apply", now);
			const first = await before.write(firstState("s"), "intent");
			await before.release();
			await expect(crashingApply(client, world, crash)).rejects.toThrow("crash");
			expect(await client(2).read("s")).toMatchObject({ serial, benchmarks: first.benchmarks });
			const next = await client(2).acquire("s", "apply", now);
			expect(next.tookOver).toMatchObject({ pid: 1 });
			const fenced = await next.read();
			expect(fenced).toMatchObject({ serial: serial + 1, lineage: first.lineage });
			await next.write(fenced!, "record");
			await next.release();
			expect((await client(3).acquire("s", "apply", now)).tookOver).toBeNull();
		});
	});
}

async function crashingApply(
	client: (pid: number, facts: object, points: Points) => StateStore,
	world: FakeWorld,
	crash: string,
): Promise<void> {
	const points: Points = {
		async reach(point) {
			if (point !== crash) return;
			world.kill(1);
			throw new Error("crash");
		},
	};
	const lease = await client(1, {}, points).acquire("s", "apply", { timeoutSeconds: 0 });
	await lease.write((await lease.read())!, "record");
	await lease.release();
}
