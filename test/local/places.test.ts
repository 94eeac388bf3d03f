/** Several stacks and addresses, and where their runs lie. */
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { gymfile } from "./gymfiles.ts";
import { test } from "./user.ts";

const runsIn = async (folder: string) =>
	(await readdir(folder)).filter((name) => name.startsWith("gym-job-")).length;

describe.concurrent("a relative output path counts from the gymfile's folder", () => {
	test.for([
		["-chdir", "work"],
		["--gymfile", "work/gymfile.ts"],
	])("with %s %s", async (args, { user }) => {
		await mkdir(join(user.folder, "work"));
		await user.write(gymfile({ outputPath: "out/runs", benchmarks: { quick: "true\n" } }), "work/gymfile.ts");
		await user.ok(["apply", ...args, "--auto-approve"]);
		const { run_dir } = (await user.status(args)).get("lab/quick")!;
		expect(join(run_dir, "..")).toBe(join(user.folder, "work/out/runs"));
		expect(await readdir(join(user.folder, "work"))).toEqual(expect.arrayContaining([".gym", "out"]));
		expect(await readdir(user.folder)).toEqual(expect.not.arrayContaining([".gym", "out"]));
	});

	test("and moves away once nothing is live in the old one", async ({ user }) => {
		const benchmarks = { slow: "until [[ -e go ]]; do sleep 0.1; done\n" };
		const moved = () => user.write(gymfile({ outputPath: "there", benchmarks }));
		await user.write(gymfile({ outputPath: "here", benchmarks }));
		await user.ok(["apply", "--auto-approve"]);
		const before = await user.until("lab/slow", "running");
		await moved();
		for (const args of [["plan"], ["apply", "--auto-approve"], ["adopt", before.run_dir]]) {
			const refused = await user.gym(args);
			expect(refused.code, refused.text).toBe(4);
			expect(refused.stderr).toMatch(/lab\/slow\s+is\s+live/);
		}
		await user.write("", join("here", before.run_dir.slice(join(user.folder, "here").length), "slow/go"));
		await user.until("lab/slow", "succeeded");
		await user.ok(["plan"]);
		await user.ok(["plan", "-offline"]);
		await user.ok(["apply", "--auto-approve", "-replace=lab/slow"]);
		const after = await user.until("lab/slow", "running");
		expect(join(after.run_dir, "..")).toBe(join(user.folder, "there"));
		const { history } = JSON.parse((await user.ok(["state", "show", "lab/slow"])).stdout);
		expect(history).toMatchObject([{ runDir: before.run_dir, status: "succeeded" }]);
		await user.ok(["destroy", "--auto-approve"]);
	});
});

describe.concurrent("several benchmarks", () => {
	test("of two stacks with one output path", async ({ user }) => {
		const benchmarks = { quick: "true\n" };
		await user.write(gymfile({ name: "one", benchmarks }, { name: "two", benchmarks }));
		await user.ok(["apply", "--auto-approve"]);
		const one = await user.until("one/quick", "succeeded");
		const two = await user.until("two/quick", "succeeded");
		expect(one.run_dir).not.toBe(two.run_dir);
		expect([one.job_id, two.job_id]).toEqual(["1", "2"]);
		await user.ok(["plan", "-detailed-exitcode"]);
		await user.ok(["state", "rm", "one/quick"]);
		await user.ok(["apply", "--auto-approve", "one"]);
		expect((await user.status()).get("one/quick")).toMatchObject({ run_dir: one.run_dir });
	});

	test("are chosen by -target and -exclude", async ({ user }) => {
		await user.write(gymfile({ benchmarks: { a1: "true\n", a2: "true\n", b1: "true\n" } }));
		await user.ok(["apply", "--auto-approve", "-target=lab/a*", "-exclude=lab/a2"]);
		expect([...(await user.status()).keys()]).toEqual(["lab/a1"]);
		await user.ok(["apply", "--auto-approve", "-exclude", "lab/a?"]);
		expect([...(await user.status()).keys()].sort()).toEqual(["lab/a1", "lab/b1"]);
		expect(await runsIn(join(user.folder, "runs"))).toBe(2);
		const typo = await user.gym(["plan", "-target=lab/c"]);
		expect(typo.code, typo.text).toBe(3);
		await user.until("lab/b1", "succeeded");
		await user.until("lab/a1", "succeeded");
	});
});
