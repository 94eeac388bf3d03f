/** Editing a benchmark whose job is live: refused by default, replaced on request, never twice and never lost. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { as, jobs, on, waitFor } from "../setup/cluster.ts";
import { type GymResult, type Project, project } from "./gym.ts";
import { liveJobs } from "./runs.ts";
import { gateSbatch, refuseBenchmark } from "./sbatch-wrapper.ts";

/** What a version of the gymfile says of the benchmark `talk`. */
interface Version {
	readonly command: string;
	readonly onChange?: "replace";
}

async function writeGymfile(one: Project, talk: Version | null): Promise<void> {
	const { onChange, ...props } = talk ?? {};
	const lifecycle = onChange ? { lifecycle: { onChange } } : {};
	const benchmark = `new Benchmark(stack, "talk", ${JSON.stringify({ ...props, ...lifecycle })});`;
	const text = `import { App, Benchmark, Driver, EvalStack, Otel, SlurmCompute, VllmService } from "gymfile";

const app = new App();
const stack = new EvalStack(app, "lab", { outputPath: ${JSON.stringify(one.outputPath)} });
const cluster = new SlurmCompute(stack, "lab", {
	account: "acct",
	hostname: "login",
	walltime: "10",
	nodePools: { gpu: { partition: "batch", gpusPerNode: 8 } },
});
const policyModel = new VllmService(stack, "policy", {
	container: "vllm/vllm-openai:v0.11.0",
	model: "acme/talker-8b",
	nodePool: cluster.pool("gpu"),
	tensorParallelSize: 8,
});
new Driver(stack, "driver", { policyModel });
new Otel(stack, "otel", { enabled: false });
new Benchmark(stack, "other", { command: "sleep 300" });
${talk === null ? "" : benchmark}

export default app;
`;
	await writeFile(join(one.folder, "gymfile.ts"), text);
}

const gym = (one: Project, command: "apply" | "plan" | "status", env: Record<string, string> = {}) =>
	one.gym(
		command === "apply"
			? ["apply", "--auto-approve"]
			: [command, ...(command === "plan" ? ["-detailed-exitcode"] : [])],
		env,
	);

/** A project whose two benchmarks run; returns the job of `talk`. */
async function running(onChange?: "replace"): Promise<{ one: Project; old: string }> {
	const one = await project();
	onTestFinished(async () => {
		const ids = [...(await liveJobs(one)).values()].flat();
		if (ids.length > 0) await as("scancel", ...ids);
	});
	await writeGymfile(one, { command: "sleep 300", ...(onChange ? { onChange } : {}) });
	const applied = await gym(one, "apply");
	expect(applied.code, applied.text).toBe(0);
	const [old] = (await liveJobs(one)).get("talk")!;
	await waitFor(async () => (await stateOf(one, old!)) === "RUNNING", "the first job to run");
	return { one, old: old! };
}

async function stateOf(one: Project, id: string): Promise<string | undefined> {
	return (await jobs(`${one.outputPath}/`)).find((job) => String(job.id) === id)?.state;
}

/** What the state knows: the current run's last job, and how many runs came before. */
async function known(one: Project): Promise<{ job: string; status: string; history: readonly string[] }> {
	const { stdout, text } = await one.gym(["state", "show", "lab/talk"]);
	const record = JSON.parse(stdout || `{"error": ${JSON.stringify(text)}}`);
	return {
		job: record.current.segments.at(-1)?.jobId,
		status: record.current.status,
		history: record.history.map((run: { status: string }) => run.status),
	};
}

async function isHeld(id: string): Promise<boolean> {
	return (await on("ctl", "squeue", "-h", "-j", id, "-o", "%r")).stdout.includes("JobHeld");
}

/** One new live job, not held, in place of the old one; the other benchmark's was never touched. */
async function expectReplaced(one: Project, old: string, result: GymResult): Promise<void> {
	expect(result.code, result.text).toBe(0);
	const live = await liveJobs(one);
	expect(live.get("talk"), result.text).toHaveLength(1);
	const [now] = live.get("talk")!;
	expect(now).not.toBe(old);
	expect(await isHeld(now!)).toBe(false);
	expect(await stateOf(one, old)).toBe("CANCELLED");
	expect(live.get("other")).toHaveLength(1);
	expect(await known(one)).toEqual({
		job: now,
		status: expect.stringMatching(/pending|running/),
		history: ["cancelled"],
	});
	const plan = await gym(one, "plan");
	expect(plan.code, plan.text).toBe(0);
}

describe("a live benchmark that was edited", () => {
	it("is left alone without a lifecycle", async () => {
		const { one, old } = await running();
		await writeGymfile(one, { command: "sleep 299" });
		const state = await one.stateText();
		const refused = await gym(one, "apply");
		expect(refused.code, refused.text).toBe(4);
		expect(refused.stdout).toContain("live-chain");
		expect(refused.stdout).toContain(old);
		expect(refused.stdout).toMatch(/gymfile\.ts:\d+/);
		expect(await one.stateText()).toBe(state);
		expect((await liveJobs(one)).get("talk")).toEqual([old]);
		expect(await jobs(`${one.outputPath}/`)).toHaveLength(2);
	});

	it("is replaced: the old job runs until the new one was accepted", async () => {
		const { one, old } = await running("replace");
		await writeGymfile(one, { command: "sleep 299", onChange: "replace" });
		const plan = await gym(one, "plan");
		expect(plan.code, plan.text).toBe(2);
		expect(plan.stdout).toContain("1 to resubmit");
		const gate = await gateSbatch(one.outputPath);
		const applying = gym(one, "apply");
		await gate.arrived();
		expect(await stateOf(one, old)).toBe("RUNNING");
		await gate.open();
		await expectReplaced(one, old, await applying);
	});

	it("keeps its job when Slurm refuses the new one", async () => {
		const { one, old } = await running("replace");
		await writeGymfile(one, { command: "sleep 299", onChange: "replace" });
		const lift = await refuseBenchmark(one.outputPath, "talk");
		const refused = await gym(one, "apply");
		expect(refused.code, refused.text).toBe(1);
		expect(refused.stdout).toContain("Invalid license specification");
		expect(await stateOf(one, old)).toBe("RUNNING");
		expect(await known(one)).toEqual({ job: old, status: "running", history: [] });
		const plan = await gym(one, "plan");
		expect(plan.code, plan.text).toBe(2);
		await lift();
		await expectReplaced(one, old, await gym(one, "apply"));
	});

	const POINTS = [
		"submit.accepted",
		"submit.recorded",
		"cancel.marked",
		"cancel.done",
		"submit.release",
		"submit.released",
	];
	it.each([...POINTS, "state.intent.linked", "exchange.submit.after", "state.submitted.before"])(
		"is replaced once when apply was stopped at %s",
		async (point) => {
			const { one, old } = await running("replace");
			await writeGymfile(one, { command: "sleep 299", onChange: "replace" });
			const stopped = await gym(one, "apply", { GYMFILE_TEST_STOP_AT: point });
			if (POINTS.includes(point)) expect(stopped.code, stopped.text).toBe(1);
			else expect(stopped.signal, stopped.text).toBe("SIGKILL");
			await expectReplaced(one, old, await gym(one, "apply"));
		},
	);

	it.each(["submit.accepted", "cancel.marked"])(
		"leaves no job when it is removed from the file after apply was stopped at %s",
		async (point) => {
			const { one } = await running("replace");
			await writeGymfile(one, { command: "sleep 299", onChange: "replace" });
			expect((await gym(one, "apply", { GYMFILE_TEST_STOP_AT: point })).code).toBe(1);
			await writeGymfile(one, null);
			const removed = await gym(one, "apply");
			expect(removed.code, removed.text).toBe(0);
			expect([...(await liveJobs(one)).keys()]).toEqual(["other"]);
			const plan = await gym(one, "plan");
			expect(plan.code, plan.text).toBe(0);
		},
	);

	it("leaves no job when it is cancelled after apply was stopped", async () => {
		const { one } = await running("replace");
		await writeGymfile(one, { command: "sleep 299", onChange: "replace" });
		expect((await gym(one, "apply", { GYMFILE_TEST_STOP_AT: "submit.accepted" })).code).toBe(1);
		const cancelled = await one.gym(["cancel", "lab/talk", "--auto-approve"]);
		expect(cancelled.code, cancelled.text).toBe(0);
		expect([...(await liveJobs(one)).keys()]).toEqual(["other"]);
		expect(await known(one)).toMatchObject({ status: "cancelled", history: ["cancelled"] });
	});
});
