/** A limit of Slurm's own on submitted jobs. On a cluster for this test alone: the limit would be everyone's. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { type ClusterInfo, describeCluster, slurmCluster } from "../setup/slurm-cluster.ts";
import { labDocument, runGym } from "./gym.ts";

async function ownCluster(): Promise<ClusterInfo> {
	const run = await mkdtemp(join(tmpdir(), "gymbed-"));
	onTestFinished(async () => {
		await slurmCluster(run, "down");
		await rm(run, { recursive: true, force: true });
	});
	const up = await slurmCluster(run, "up");
	expect(up.code, up.stdout + up.stderr).toBe(0);
	return describeCluster(run);
}

it("refuses the third of three jobs: two are recorded, and the third follows once there is room", async () => {
	const { run, sshConfig, outputRoot, user } = await ownCluster();
	const onCtl = async (...command: readonly string[]) => {
		const done = await slurmCluster(run, "on", "ctl", ...command);
		expect(done.code, done.stderr).toBe(0);
		return done.stdout;
	};
	const limit = (jobs: number) =>
		onCtl("sacctmgr", "-i", "modify", "user", "set", `MaxSubmitJobs=${jobs}`, "where", `name=${user}`);
	const jobs = async () => (await onCtl("squeue", "-h", "-o", "%j")).trim().split("\n").sort();

	const folder = await mkdtemp(join(tmpdir(), "gymfile-test-"));
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	const gym = (...args: readonly string[]) =>
		runGym(folder, [...args, "-f", "lab.yaml"], { GYMFILE_SSH_CONFIG: sshConfig });
	const sleep = { command: "sleep 300" };
	const benchmarks = { gsm8k: sleep, aime: sleep, ifeval: sleep };
	const document = labDocument({ outputPath: join(outputRoot, "evals"), benchmarks });
	await writeFile(join(folder, "lab.yaml"), stringify(document));

	await limit(2);
	const first = await gym("apply", "--auto-approve");
	expect(first.code, first.text).toBe(1);
	expect(first.stdout).toMatch(/lab\/ifeval\s+refused\s+sbatch: error: AssocMaxSubmitJobLimit/);
	expect(await jobs()).toEqual(["gym-aime", "gym-gsm8k"]);
	const plan = await gym("plan", "-detailed-exitcode");
	expect(plan.code, plan.text).toBe(2);
	expect(plan.stdout).toContain("1 to submit, 0 to resubmit");
	expect(plan.stdout).toMatch(/# lab\/ifeval will be submitted/);

	await limit(-1);
	const second = await gym("apply", "--auto-approve");
	expect(second.code, second.text).toBe(0);
	expect(await jobs()).toEqual(["gym-aime", "gym-gsm8k", "gym-ifeval"]);
	const done = await gym("plan", "-detailed-exitcode");
	expect(done.code, done.text).toBe(0);
});
