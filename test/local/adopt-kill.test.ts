/** `gym adopt DIR` killed at each of its points, then asked again. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { locked, write } from "../setup/points.ts";
import { ENDLESS, gymfile } from "./gymfiles.ts";
import { test, type User } from "./user.ts";

const POINTS = locked(...write("adopted"));

/** A live run of which the state knows nothing. @returns its run directory */
async function lost(user: User): Promise<string> {
	await user.write(gymfile({ benchmarks: { slow: ENDLESS } }));
	await user.ok(["apply", "--auto-approve"]);
	const { run_dir } = await user.until("lab/slow", "running");
	await rm(join(user.folder, ".gym"), { recursive: true });
	return run_dir;
}

describe.concurrent("a run is taken in once", () => {
	test.for(POINTS)("killed at %s", async (point, { user }) => {
		const runDir = await lost(user);
		const killed = await user.gym(["adopt", runDir], { GYMFILE_TEST_STOP_AT: point });
		expect(killed.code, killed.text).toBeNull();
		await user.ok(["adopt", runDir]);
		expect((await user.status()).get("lab/slow")).toMatchObject({
			status: "running",
			run_dir: runDir,
			job_id: "1",
			segments: 1,
		});
		const { history } = JSON.parse((await user.ok(["state", "show", "lab/slow"])).stdout);
		expect(history).toEqual([]);
		await user.ok(["plan", "-detailed-exitcode"]);
		expect(await readdir(join(user.folder, "runs/.gym-local/jobs"))).toEqual(["1"]);
		await user.ok(["destroy", "--auto-approve"]);
	});

	test("there are no other points", async ({ user }) => {
		const runDir = await lost(user);
		const listed = await user.ok(["adopt", runDir], { GYMFILE_TEST_LIST_POINTS: "1" });
		const passed = [...listed.stderr.matchAll(/^point (\S+)$/gm)].map(([, name]) => name!);
		expect([...new Set(passed)].sort()).toEqual([...POINTS].sort());
		await user.ok(["destroy", "--auto-approve"]);
	});
});
