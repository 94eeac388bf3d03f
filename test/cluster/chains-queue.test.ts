/** The successors of a resume chain in a real queue: never two at work, none missing, none left. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { as, waitFor } from "../setup/cluster.ts";
import { appliedChains, type Chains, playing, steered, updateJob } from "./chain.ts";
import { liveJobs, runDirs } from "./runs.ts";

async function benchDir({ one }: Chains, benchmark: string): Promise<string> {
	return join((await runDirs(one)).at(-1)!, benchmark);
}

/** Runs a program of Slurm as the cluster's user; its answer. */
async function slurm(...command: readonly string[]): Promise<string> {
	const { code, stdout, stderr } = await as(...command);
	expect(code, stderr).toBe(0);
	return stdout.trim();
}

describe("the successor", () => {
	it("is queued once, also by a job that was started again", async () => {
		const { driver, exit } = await steered();
		const chains = await appliedChains({ again: playing("work") }, { driver });
		const first = await chains.running("again", 1);
		await updateJob(first, "Requeue=1");
		await slurm("scontrol", "requeue", first);
		const runs = async () => (await chains.events("again")).filter(({ event }) => event === "run").length;
		await waitFor(async () => (await runs()) === 2, "the job to run again");
		expect((await liveJobs(chains.one)).get("again")).toHaveLength(2);
		await exit(first, 3);
		await exit(await chains.running("again", 2), 0);

		const all = await chains.over("again");
		expect(all.map(({ state }) => state)).toEqual(["FAILED", "COMPLETED", "CANCELLED"]);
		const events = (await chains.events("again")).filter(({ job }) => String(job) === first);
		expect(events.filter(({ event }) => event === "start").map(({ restart }) => restart)).toEqual([
			undefined,
			1,
		]);
		const next = String(all[1]!.id);
		expect(events.filter(({ event }) => event === "next").map((one) => one.next)).toEqual([next, next]);
	});

	it("works alone when there are two of one job", async () => {
		const { driver, exit } = await steered();
		const names = ["a", "b", "c"];
		const chains = await appliedChains(Object.fromEntries(names.map((name) => [name, playing("work")])), {
			driver,
		});
		const twins = async (name: string) => {
			const first = await chains.running(name, 1);
			const dir = await benchDir(chains, name);
			const after = ["--dependency", `afternotok:${first}`, `--chdir=${dir}`];
			const second = await slurm("sbatch", "--parsable", ...after, `${dir}/job.sh`, first);
			await exit(first, 3);
			const worker = await chains.running(name, 2);
			const ends = async () => {
				const starts = (await chains.events(name)).filter(({ event }) => event === "start");
				const others = starts.map(({ job }) => String(job)).filter((job) => job !== first && job !== worker);
				return others.length === 1 && chains.end(name, others[0]!);
			};
			expect(await waitFor(ends, `the other successor of ${name} to end`)).toBe("0 claimed");
			await exit(worker, 0);
			const all = await chains.over(name);
			expect(all.map(({ id }) => String(id))).toEqual(expect.arrayContaining([second, worker]));
			expect(all.map(({ state }) => state).sort()).toEqual(["CANCELLED", "COMPLETED", "COMPLETED", "FAILED"]);
			expect(await chains.end(name, worker)).toBe("0 finished");
			expect(await chains.decisions(name)).toHaveLength(2);
			expect([...(await chains.decisions(name))].sort()).toEqual(["FAILED resume", "claimed"]);
		};
		await Promise.all(names.map(twins));
		expect(await chains.file("a", ".gym_infra_retries")).toBe("1\n");
	});
});
