/** Resume chains on a real Slurm: how segments end, what their successors make of it, and what is left. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { quote } from "../../src/job/script/quote.ts";
import { as, clusterInfo, jobs, on, timeoutJob, waitFor } from "../setup/cluster.ts";
import { slurmCluster } from "../setup/slurm-cluster.ts";
import { appliedChains, type Chains, chainsOf, playing, statusOf, steered, warnJob } from "./chain.ts";
import { labDocument, project } from "./gym.ts";
import { wrap } from "./sbatch-wrapper.ts";
import { stubFolder } from "./stub-folder.ts";

/** Slurm's states of a chain's jobs, in order. */
async function states(chains: Chains, benchmark: string): Promise<readonly string[]> {
	return (await chains.over(benchmark)).map(({ state }) => state);
}

describe("a chain that Slurm times out", () => {
	it("goes on where it was, and ends with all rollouts once", async () => {
		const stubs = await stubFolder();
		const tasks = Array.from({ length: 6 }, (_, i) => ({ prompt: `task ${i}`, expected: "stub" }));
		await writeFile(join(stubs.path, "tasks"), tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
		await stubs.gate("held");
		const one = await project();
		await one.write(
			labDocument({
				outputPath: one.outputPath,
				policy: { health_check: {} },
				driver: {
					env: { ...stubs.env, STUB_GYM_TASKS: `lit:${stubs.path}/tasks`, STUB_GYM_GATE_AFTER: "lit:2" },
				},
				benchmarks: { math: { run: { split: "test" }, resumable: { max_walltime: "1:00:00" } } },
			}),
		);
		const applied = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"]);
		expect(applied.code, applied.text).toBe(0);
		const chains = await chainsOf(one);
		const rows = async () =>
			((await chains.file("math", "artifacts/rollouts.jsonl")) ?? "").split("\n").slice(0, -1);
		const segment = async (nth: number) => {
			const id = await chains.running("math", nth);
			await waitFor(async () => (await rows()).length === 2 * nth, `${2 * nth} rollouts`);
			return id;
		};

		const first = await segment(1);
		await warnJob(first);
		const second = await segment(2);
		await timeoutJob(second);
		const third = await segment(3);
		const pending = (await jobs(one.outputPath)).filter(({ state }) => state === "PENDING");
		expect(pending).toHaveLength(1);
		await stubs.open("held");

		expect(await states(chains, "math")).toEqual(["FAILED", "TIMEOUT", "COMPLETED", "CANCELLED"]);
		const ends = [first, second, third].map((id) => chains.end("math", id));
		// Which of its programs Slurm ends first is chance.
		expect(await Promise.all(ends)).toEqual(["85 timeout", expect.not.stringMatching(/^0 /), "0 finished"]);
		expect(await chains.decisions("math")).toEqual(["TIMEOUT resume", "TIMEOUT resume"]);
		const played = (await rows()).map((row) => JSON.parse(row));
		expect(played.map((row) => row._ng_task_index)).toEqual([0, 1, 2, 3, 4, 5]);
		expect(played.map((row) => row.reward)).toEqual([1, 1, 1, 1, 1, 1]);

		const { stdout } = await as("sacct", "-nXP", "-j", `${first},${second}`, "-o", "elapsedraw");
		const accounted = stdout
			.trim()
			.split("\n")
			.reduce((sum, seconds) => sum + Number(seconds), 0);
		const counted = Number(await chains.file("math", ".gym_accumulated_walltime"));
		// A script's seconds and those of its job are two for each of two jobs.
		expect(Math.abs(counted - accounted)).toBeLessThanOrEqual(6);
		expect(await chains.file("math", ".gym_infra_retries")).toBeNull();
		const told = (await chains.events("math")).filter(
			({ job, event }) => job !== Number(second) || event !== "warning",
		);
		expect(told.map(({ event }) => event)).toEqual([
			...["start", "next", "run", "warning", "end"],
			...["start", "previous", "next", "run", "end"],
			...["start", "previous", "next", "run", "end"],
		]);
	});
});

describe("the ends of segments", () => {
	it("that are not the benchmark's fault spend no retry, failures do", async () => {
		const { run } = clusterInfo();
		const steer = await steered();
		const chains = await appliedChains(
			{ mixed: playing("work", { max_retries: 1 }) },
			{ driver: steer.driver, compute: { extra_args: { nodelist: "node4" } } },
		);
		const retries = () => chains.file("mixed", ".gym_infra_retries");

		await chains.running("mixed", 1);
		const urgent = ["--partition=urgent", "--nodelist=node4", "--exclusive", "--output=/dev/null"];
		const preempting = await as("sbatch", ...urgent, "--wrap=sleep 1");
		expect(preempting.code, preempting.stderr).toBe(0);

		await chains.running("mixed", 2);
		expect((await slurmCluster(run, "node-stop", "node4")).code).toBe(0);
		// The controller finds out by itself, later.
		await on("ctl", "scontrol", "update", "NodeName=node4", "State=DOWN", "Reason=power");
		expect((await slurmCluster(run, "node-start", "node4")).code).toBe(0);

		const third = await chains.running("mixed", 3);
		expect(await retries()).toBeNull();
		await steer.exit(third, 3);
		const fourth = await chains.running("mixed", 4);
		expect(await retries()).toBe("1\n");
		await steer.exit(fourth, 0);
		expect(await states(chains, "mixed")).toEqual([
			"PREEMPTED",
			"NODE_FAIL",
			"FAILED",
			"COMPLETED",
			"CANCELLED",
		]);
		expect(await chains.decisions("mixed")).toEqual([
			"PREEMPTED resume",
			"NODE_FAIL resume",
			"FAILED resume",
		]);
		expect(await chains.end("mixed", fourth)).toBe("0 finished");
	});

	it("stop it when retries, time or patience are spent: it has not succeeded, and goes on only when told to", async () => {
		const { driver, exit } = await steered();
		const chains = await appliedChains(
			{
				fails: playing("fail", { max_retries: 1 }),
				capped: playing("work", { max_walltime: "00:00:05" }),
				idle: playing("idle"),
			},
			{ driver },
		);
		/** Ends each segment by its time limit until one decides not to go on. */
		const timeOut = async (name: string) => {
			for (let nth = 1; ; nth++) {
				await timeoutJob(await chains.running(name, nth));
				const found = await waitFor(
					async () => (await chains.decisions(name))[nth - 1],
					`decision ${nth} of ${name}`,
				);
				if (found !== "TIMEOUT resume") return;
			}
		};
		await Promise.all([timeOut("capped"), timeOut("idle")]);
		const last = async (name: string) => chains.end(name, String((await chains.over(name)).at(-1)!.id));
		expect(await last("fails")).toBe("1 retries");
		expect(await states(chains, "fails")).toEqual(["FAILED", "FAILED", "FAILED"]);
		expect(await chains.decisions("fails")).toEqual(["FAILED resume", "FAILED retries"]);
		expect(await last("idle")).toBe("0 no-progress");
		expect(await states(chains, "idle")).toEqual(["TIMEOUT", "TIMEOUT", "TIMEOUT", "COMPLETED"]);
		expect(await last("capped")).toBe("0 cap");
		const judged = (await chains.events("capped")).filter(({ event }) => event === "previous");
		for (const { decision, walltime } of judged) {
			expect(walltime! >= 5, JSON.stringify(judged)).toBe(decision === "cap");
		}

		expect(await statusOf(chains.one)).toMatchObject({
			fails: { status: "stopped", note: expect.stringContaining("retries") },
			capped: { status: "stopped", note: expect.stringContaining("max_walltime") },
			idle: { status: "stopped", note: expect.stringContaining("no progress") },
		});
		const plan = await chains.one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(plan.code, plan.text).toBe(0);
		for (const name of ["fails", "capped", "idle"])
			expect(plan.stdout).toMatch(new RegExp(`^! lab/${name}`, "m"));

		const resume = ["resume", "capped", "-f", "lab.yaml", "--auto-approve"];
		const refused = await chains.one.gym(resume);
		expect(refused.code, refused.text).toBe(4);
		expect(refused.text).toContain("budget-spent");
		const resumed = await chains.one.gym([...resume, "--reset-counters"]);
		expect(resumed.code, resumed.text).toBe(0);
		await exit(await chains.running("capped", judged.length + 1), 0);
		await chains.over("capped");
		expect(Number(await chains.file("capped", ".gym_accumulated_walltime"))).toBeLessThan(5);
		expect(await statusOf(chains.one)).toMatchObject({
			capped: { status: "succeeded", rollouts_done: judged.length + 1 },
		});
	});

	it("near the limit are timeouts, even of a driver that does not listen", async () => {
		const late = join((await stubFolder()).path, "late");
		await wrap("date", `[[ -e ${quote(late)} ]]`, ['exec /usr/bin/date -d "+100 seconds" "$@"']);
		const { driver, exit } = await steered();
		const chains = await appliedChains({ warned: playing("deaf"), killed: playing("deaf") }, { driver });
		const [warned, killed] = await Promise.all(["warned", "killed"].map((name) => chains.running(name, 1)));
		await timeoutJob(killed!);
		await warnJob(warned!);
		await waitFor(
			async () => (await chains.events("warned")).some(({ event }) => event === "warning"),
			"the warning",
		);
		// It is given 90 s to stop: they pass now.
		await writeFile(late, "");
		for (const name of ["warned", "killed"]) {
			const second = await chains.running(name, 2);
			await exit(second, 0);
		}
		expect(await states(chains, "warned")).toEqual(["FAILED", "COMPLETED", "CANCELLED"]);
		expect(await states(chains, "killed")).toEqual(["TIMEOUT", "COMPLETED", "CANCELLED"]);
		expect(await chains.end("warned", warned!)).toBe("85 timeout");
		for (const name of ["warned", "killed"]) expect(await chains.decisions(name)).toEqual(["TIMEOUT resume"]);
	});
});
