/** Evaluations that go on in further jobs of this machine. */
import { chmod, mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, vi } from "vitest";
import { gymfile } from "./gymfiles.ts";
import { allGone, test, type User } from "./user.ts";

const PATIENCE = { timeout: 150_000, interval: 100 };

/** Plays Gym: one rollout at each start; it is done with the one that the file `enough` names. */
const GYM = `#!/bin/bash
[[ "$1 $2" == "eval run" ]] || exit 2
echo '{"reward": 1}' >>"$PWD/artifacts/rollouts.jsonl"
n=$(wc -l <"$PWD/artifacts/rollouts.jsonl")
printf '%s %s\\n' "$n" "$TOKEN" >>"$PWD/calls"
if ((n >= $(<"$HERE/enough"))); then exit 0; fi
case $HOW in
fails) exit 7 ;;
ignores) trap '' TERM ;;
*) trap 'exit 0' TERM ;;
esac
while :; do sleep 0.2 & wait $!; done
`;

/** A user with the stand-in on PATH, and a resumable benchmark that is submitted. */
async function begin(
	user: User,
	enough: number,
	how: string,
	{ walltime = "00:00:08", resumable = "true" } = {},
) {
	await mkdir(join(user.folder, "bin"));
	await user.write(GYM, "bin/gym");
	await chmod(join(user.folder, "bin/gym"), 0o755);
	await user.write(`${enough}\n`, "enough");
	const driver = `env: { HERE: lit(${JSON.stringify(user.folder)}), HOW: lit(${JSON.stringify(how)}), TOKEN: host("TOKEN") }`;
	await user.write(gymfile({ walltime, driver, benchmarks: {}, resumable: { sums: resumable } }));
	const env = { TOKEN: "hush-7f1c", PATH: `${join(user.folder, "bin")}:${process.env.PATH}` };
	await user.ok(["apply", "--auto-approve"], env);
	const { run_dir } = (await user.status()).get("lab/sums")!;
	const jobDir = join(run_dir, "sums");
	return {
		jobDir,
		/** Of the shell that submits. */
		env,
		/** Waits until the stand-in has been started so often. */
		calls: (count: number) =>
			vi.waitFor(async () => {
				const lines = (await readFile(join(jobDir, "calls"), "utf8")).trimEnd().split("\n");
				expect(lines.length).toBeGreaterThanOrEqual(count);
				return lines;
			}, PATIENCE),
		/** Waits until the running segment has queued a next one; its entry. */
		entry: (id: number) =>
			vi.waitFor(async () => {
				const folder = join(user.folder, "runs/.gym-local/jobs", String(id));
				await stat(join(folder, "job.json"));
				return folder;
			}, PATIENCE),
	};
}

const missing = (path: string) => expect(stat(path)).rejects.toThrow("ENOENT");

describe.concurrent("a chain", () => {
	test.for(["listens", "ignores"])(
		"of three segments, each at its time limit, and one that is done; Gym %s",
		async (how, { user }) => {
			const { jobDir, env, calls } = await begin(user, 4, how);
			await calls(4);
			const done = await user.until("lab/sums", "succeeded");
			expect(await calls(4)).toEqual([1, 2, 3, 4].map((n) => `${n} hush-7f1c`));
			expect(done.segments).toBeGreaterThanOrEqual(4);
			await allGone(user);
			await missing(join(jobDir, ".env"));
			expect(await readFile(join(jobDir, ".gym_infra_retries"), "utf8").catch(() => "0\n")).toBe("0\n");
			await user.ok(["plan", "-detailed-exitcode"], env);
		},
	);

	test("whose supervisor is killed goes on by itself, and is done", async ({ user }) => {
		const { calls, entry } = await begin(user, 2, "ignores", { walltime: "00:10:00" });
		await calls(1);
		await entry(2);
		const owner = await readFile(join(await entry(1), "supervisor.json"), "utf8");
		process.kill((JSON.parse(owner) as { pid: number }).pid, "SIGKILL");
		await calls(2);
		await user.until("lab/sums", "succeeded");
		await allGone(user);
		expect(JSON.parse(await readFile(join(await entry(1), "end.json"), "utf8"))).toMatchObject({
			state: "NODE_FAIL",
		});
	});

	test("that fails again and again stops when its retries are spent", async ({ user }) => {
		const { calls } = await begin(user, 100, "fails", { resumable: "{ maxRetries: 2 }" });
		await calls(3);
		expect((await user.until("lab/sums", "stopped")).note).toMatch(/retries/);
		expect(await calls(3)).toHaveLength(3);
		await allGone(user);
	});

	test("that is cancelled ends with its successor, and leaves no secret", async ({ user }) => {
		const { jobDir, calls, entry } = await begin(user, 100, "ignores", { walltime: "00:10:00" });
		await calls(1);
		await entry(2);
		await stat(join(jobDir, ".env"));
		await user.ok(["cancel", "lab/sums", "--auto-approve"]);
		await allGone(user);
		await user.until("lab/sums", "cancelled");
		await missing(join(jobDir, ".env"));
		expect(await readdir(join(user.folder, "runs/.gym-local/jobs"))).toEqual(["1", "2"]);
	});

	test("that was cancelled is gone on with by resume, and is done", async ({ user }) => {
		const { env, calls, entry } = await begin(user, 2, "listens", { walltime: "00:10:00" });
		await calls(1);
		await entry(2);
		await user.ok(["cancel", "lab/sums", "--auto-approve"]);
		await user.until("lab/sums", "cancelled");
		await user.ok(["resume", "lab/sums", "--auto-approve"], env);
		await calls(2);
		await user.until("lab/sums", "succeeded");
	});
});
