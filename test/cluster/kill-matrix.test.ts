/**
 * Recovery from anything: each command that changes jobs is killed at each of its points, then run again. In the
 * end each benchmark has one job, or none, and apply has nothing to do. The table is printed.
 */
import { afterAll, describe, expect, it } from "vitest";
import type { Project } from "./gym.ts";
import { COMMANDS, type Command, recover, rowsOf } from "./recovery.ts";

/** Points are tried in that many projects at a time: most of a row is waiting for the cluster. */
const LANES = 4;

/** Does the work for all points, in lanes side by side; each has its own project, which the last row left. */
async function inLanes(
	points: readonly string[],
	work: (point: string, last: Project | null) => Promise<Project>,
): Promise<readonly (Project | null)[]> {
	const left = [...points];
	const lane = async () => {
		let last: Project | null = null;
		for (let point = left.shift(); point !== undefined; point = left.shift()) last = await work(point, last);
		return last;
	};
	return Promise.all(Array.from({ length: LANES }, lane));
}

describe("recovery from anything", () => {
	const table: string[] = [];
	afterAll(() => console.log(table.join("\n")));

	it.each<[string, Command]>(Object.entries(COMMANDS))(
		"%s is killed at each point, and has no other ones on this machine",
		async (name, command) => {
			const rows = rowsOf(name, table);
			const points = [...command.points, ...command.remote];
			const [last] = await inLanes(points, async (point, before) => {
				const one = await command.prepare(before);
				const inside = command.remote.includes(point);
				await rows.add(point, inside ? "SIGKILL of the remote script" : "SIGKILL", async () => {
					const stopped = await one.gym(await command.args(one), { GYMFILE_TEST_STOP_AT: point });
					if (inside) expect(stopped.code, stopped.text).toBe(1);
					else expect(stopped.signal, stopped.text).toBe("SIGKILL");
					return recover(one, command);
				});
				return one;
			});
			expect(rows.failures).toEqual([]);
			const one = await command.prepare(last!);
			const listed = await one.gym(await command.args(one), { GYMFILE_TEST_LIST_POINTS: "1" });
			expect(listed.code, listed.text).toBe(0);
			const passed = [...listed.stderr.matchAll(/^point (\S+)$/gm)].map((match) => match[1]!);
			expect([...new Set(passed)].sort()).toEqual([...command.points].sort());
		},
		300_000,
	);
});
