/** What live runs take up in place, on a real Slurm: no new job, no lost place in the queue. */
import { expect, it } from "vitest";
import { on } from "../setup/cluster.ts";
import { chainDocument, chainProject, chainsOf, playing, steered } from "./chain.ts";
import { liveJobs } from "./runs.ts";

const FLAGS = ["-f", "lab.yaml", "--auto-approve"];

/** Time limit and comment of a job, as Slurm has them. */
async function settings(job: number | string): Promise<string> {
	return (await on("ctl", "squeue", "-h", "-j", String(job), "-o", "%l %k")).stdout.trim();
}

it("a chain's limits at once, its walltime and comment with what is queued", async () => {
	const { driver, exit } = await steered();
	const before = { walltime: "01:00:00" };
	const one = await chainProject({ talk: playing("work") }, { driver, compute: before });
	const applied = await one.gym(["apply", ...FLAGS]);
	expect(applied.code, applied.text).toBe(0);
	const chains = await chainsOf(one);
	const first = await chains.running("talk", 1);
	const [, next] = (await liveJobs(one)).get("talk")!;

	const limits = { max_retries: 9, max_walltime: "10:00:00" };
	const compute = { walltime: "02:00:00", extra_args: { comment: 'it\'s "mine" #1' } };
	await one.write(chainDocument(one.outputPath, { talk: playing("work", limits) }, { driver, compute }));
	const plan = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
	expect(plan.code, plan.text).toBe(2);
	expect(plan.stdout).toContain("# lab/talk will be updated in place");
	const updated = await one.gym(["apply", ...FLAGS]);
	expect(updated.code, updated.text).toBe(0);
	expect(updated.stdout).toContain(`job ${next}`);

	expect(await settings(next!)).toBe(`2:00:00 ${compute.extra_args.comment}`);
	expect(await settings(first)).toMatch(/^1:00:00 /);
	expect((await liveJobs(one)).get("talk")).toEqual([first, next]);
	expect(await chains.file("talk", "budget.json")).toBe(
		'{"max_retries":9,"max_walltime":36000,"no_progress":3}\n',
	);
	await one
		.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"])
		.then(({ code, text }) => expect(code, text).toBe(0));

	// The third segment is queued by the second, with the script that was put in place.
	await exit(first, 3);
	const second = await chains.running("talk", 2);
	expect(second).toBe(next);
	const [, third] = (await liveJobs(one)).get("talk")!;
	expect(await settings(third!)).toBe(`2:00:00 ${compute.extra_args.comment}`);
	await exit(second, 0);
	await chains.over("talk");
});

it("a single job that waits keeps its place", async () => {
	const { driver } = await steered();
	const waiting = { begin: "now+1hour" };
	const single = { talk: { command: "true" } };
	const one = await chainProject(single, { driver, compute: { walltime: "01:00:00", extra_args: waiting } });
	const applied = await one.gym(["apply", ...FLAGS]);
	expect(applied.code, applied.text).toBe(0);
	const [job] = (await liveJobs(one)).get("talk")!;

	const compute = { walltime: "00:30:00", extra_args: { ...waiting, comment: "later" } };
	await one.write(chainDocument(one.outputPath, single, { driver, compute }));
	const updated = await one.gym(["apply", ...FLAGS]);
	expect(updated.code, updated.text).toBe(0);
	expect(await settings(job!)).toBe("30:00 later");
	expect((await liveJobs(one)).get("talk")).toEqual([job]);
	const plan = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
	expect(plan.code, plan.text).toBe(0);
});

it.each(["update.written", "update.done"])(
	"an apply that dies at %s is finished by the next one",
	async (point) => {
		const { driver } = await steered();
		const one = await chainProject({ talk: playing("work") }, { driver, compute: { walltime: "01:00:00" } });
		const applied = await one.gym(["apply", ...FLAGS]);
		expect(applied.code, applied.text).toBe(0);
		await (await chainsOf(one)).running("talk", 1);
		const live = (await liveJobs(one)).get("talk")!;

		const compute = { walltime: "02:00:00" };
		const limits = { max_retries: 9, max_walltime: "10:00:00" };
		await one.write(chainDocument(one.outputPath, { talk: playing("work", limits) }, { driver, compute }));
		const killed = await one.gym(["apply", ...FLAGS], { GYMFILE_TEST_STOP_AT: point });
		expect(killed.code, killed.text).not.toBe(0);
		const again = await one.gym(["apply", ...FLAGS]);
		expect(again.code, again.text).toBe(0);
		expect(await settings(live[1]!)).toMatch(/^2:00:00/);
		expect((await liveJobs(one)).get("talk")).toEqual(live);
		const plan = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(plan.code, plan.text).toBe(0);
	},
);
