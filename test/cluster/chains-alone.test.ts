/** Resume chains with less than they wish for: no sbatch on the nodes, no submitting machine, no accounting. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { quote } from "../../src/job/script/quote.ts";
import { timeoutJob } from "../setup/cluster.ts";
import { appliedChains, chainProject, chainsOf, playing, statusOf, steered, warnJob } from "./chain.ts";
import { filesBelow, liveJobs, runDirs } from "./runs.ts";
import { wrap, wrapSbatch } from "./sbatch-wrapper.ts";
import { stubFolder } from "./stub-folder.ts";

const FLAGS = ["-f", "lab.yaml", "--auto-approve"];

describe("where jobs cannot queue jobs", () => {
	it("a segment works on and says so; once it timed out, apply goes on in the same directory", async () => {
		const { driver, exit } = await steered();
		const lifted = join((await stubFolder()).path, "lifted");
		const one = await chainProject({ lonely: playing("work"), later: playing("work") }, { driver });
		await wrapSbatch(one.outputPath, [
			`if [[ $SLURM_JOB_ID && ! -e ${quote(lifted)} ]]; then`,
			'echo "sbatch: error: not from a compute node" >&2',
			"exit 1",
			"fi",
		]);
		const applied = await one.gym(["apply", ...FLAGS]);
		expect(applied.code, applied.text).toBe(0);
		const chains = await chainsOf(one);
		const [lonely, later] = await Promise.all(["lonely", "later"].map((name) => chains.running(name, 1)));
		expect(await chains.file("lonely", `logs/queue-${lonely}.err`)).toContain("not from a compute node");
		expect(await chains.file("lonely", `logs/slurm-${lonely}.log`)).toContain(
			"no further job could be queued",
		);
		expect((await chains.events("lonely")).find(({ event }) => event === "next")!.next).toBeNull();
		await timeoutJob(lonely!);
		expect(await chains.over("lonely")).toHaveLength(1);

		// The other one tries again when it is warned.
		await writeFile(lifted, "");
		await warnJob(later!);
		await exit(await chains.running("later", 2), 0);
		await chains.over("later");

		const plan = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(plan.code, plan.text).toBe(2);
		expect(plan.stdout).toMatch(/^\s*# lab\/lonely will be resumed/m);
		expect(plan.stdout).toContain("1 to resume");
		const resumed = await one.gym(["apply", ...FLAGS]);
		expect(resumed.code, resumed.text).toBe(0);
		const second = await chains.running("lonely", 2);
		expect((await liveJobs(one)).get("lonely")).toHaveLength(2);
		await exit(second, 0);
		await chains.over("lonely");
		expect(await runDirs(one)).toHaveLength(1);
		expect(await chains.end("lonely", second)).toBe("0 finished");
		expect(await chains.file("lonely", ".gym_infra_retries")).toBeNull();
		expect(await statusOf(one)).toMatchObject({
			lonely: { status: "succeeded", rollouts_done: 2 },
			later: { status: "succeeded", rollouts_done: 2 },
		});
	});
});

describe("the submitting machine is gone", () => {
	it.each(["with", "without"])(
		"and status later tells the whole story, %s accounting",
		async (accounting) => {
			if (accounting === "without")
				await wrap("sacct", "true", ["echo 'Slurm accounting storage is disabled' >&2", "exit 1"]);
			const { driver, exit } = await steered();
			const one = await chainProject(
				{ talk: playing("work"), fails: playing("fail", { max_retries: 1 }) },
				{ driver },
			);
			const killed = await one.gym(["apply", ...FLAGS], { GYMFILE_TEST_STOP_AT: "exchange.submit.after" });
			expect(killed.signal, killed.text).toBe("SIGKILL");
			const chains = await chainsOf(one);
			const first = await chains.running("talk", 1);
			await timeoutJob(first);
			await exit(await chains.running("talk", 2), 3);
			const third = await chains.running("talk", 3);
			expect(await statusOf(one)).toMatchObject({ talk: { status: "running", rollouts_done: 3 } });
			await exit(third, 0);
			await Promise.all(["talk", "fails"].map(chains.over));

			expect(await statusOf(one)).toMatchObject({
				talk: { status: "succeeded", rollouts_done: 3 },
				fails: { status: "stopped", note: expect.stringContaining("retries") },
			});
			const applied = await one.gym(["apply", ...FLAGS]);
			expect(applied.code, applied.text).toBe(0);
			const { current } = JSON.parse(await one.stateText()).benchmarks.talk;
			expect(current.segments.map((segment: { jobId: string }) => segment.jobId)).toEqual(
				(await chains.over("talk")).map(({ id }) => String(id)),
			);
			expect(current.chain).toMatchObject({ retries: 1 });
			expect(await runDirs(one)).toHaveLength(1);
		},
	);
});

describe("values of host: variables", () => {
	it("stay while a chain goes on, and are gone once it is over", async () => {
		const mark = `leak${process.pid}x${Date.now().toString(36)}`;
		const { driver, exit } = await steered();
		const chains = await appliedChains(
			{ talk: playing("work"), fails: playing("fail", { max_retries: 1 }), ended: playing("work") },
			{ driver: { env: { ...driver.env, TOKEN: "host:TOKEN" } }, shell: { TOKEN: mark } },
		);
		const [talk, ended] = await Promise.all(["talk", "ended"].map((name) => chains.running(name, 1)));
		await exit(talk!, 3);
		await timeoutJob(ended!);
		const [second] = await Promise.all(["talk", "ended"].map((name) => chains.running(name, 2)));
		for (const name of ["talk", "ended"]) expect(await chains.file(name, ".env")).toContain(mark);
		await exit(second!, 0);
		const cancelled = await chains.one.gym(["cancel", "ended", ...FLAGS]);
		expect(cancelled.code, cancelled.text).toBe(0);
		await Promise.all(["talk", "fails", "ended"].map(chains.over));
		for (const file of await filesBelow(chains.one.outputPath))
			expect(await readFile(file, "utf8"), file).not.toContain(mark);
	});
});
