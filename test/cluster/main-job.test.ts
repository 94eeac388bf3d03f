/** The main job, as a user meets it: submit, look, edit, remove, fail. Over ssh, on a real Slurm. */
import { describe, expect, it } from "vitest";
import { jobs, waitFor } from "../setup/cluster.ts";
import { labDocument, type Project, project } from "./gym.ts";

const TALK = { command: 'echo "asked $NEMO_GYM_POLICY_MODEL_NAME at $NEMO_GYM_POLICY_BASE_URL"' };

/** Waits until no job of the project is queued or running. */
async function settled(one: Project): Promise<void> {
	await waitFor(
		async () =>
			(await jobs(one.outputPath)).every((job) => !["PENDING", "RUNNING", "COMPLETING"].includes(job.state)),
		"all jobs to end",
		{ timeoutMs: 90_000 },
	);
}

async function statusOf(one: Project): Promise<Record<string, Record<string, unknown>>> {
	const { stdout, text, code } = await one.gym(["status", "-f", "lab.yaml", "-json"]);
	expect(code, text).toBe(0);
	const events = stdout
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown>);
	return Object.fromEntries(
		events.filter((event) => event.type === "status").map((event) => [event.addr, event]),
	);
}

describe("the main job", () => {
	it("submits three benchmarks, and then there is nothing to do", async () => {
		const one = await project();
		const benchmarks = { gsm8k: TALK, aime: TALK, "if.eval_2": TALK };
		await one.write(labDocument({ outputPath: one.outputPath, benchmarks }));

		const first = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(first.code, first.text).toBe(2);
		expect(first.stdout).toContain("3 to submit");

		const applied = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"]);
		expect(applied.code, applied.text).toBe(0);
		const again = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(again.code, again.text).toBe(0);

		await settled(one);
		const status = await statusOf(one);
		for (const name of Object.keys(benchmarks))
			expect(status[`lab/${name}`]).toMatchObject({ status: "succeeded" });
		expect(await jobs(one.outputPath)).toHaveLength(3);
		const logs = await one.gym(["logs", "lab/gsm8k", "-f", "lab.yaml", "--source", "driver"]);
		expect(logs.stdout).toContain("asked acme/talker-8b at http://localhost:8000/v1");
		const done = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(done.code, done.text).toBe(0);
		expect(done.stdout).toContain("succeeded");
	});

	it("shows what an edit changes, and submits just that again", async () => {
		const one = await project();
		const base = { outputPath: one.outputPath, benchmarks: { gsm8k: TALK, aime: TALK } };
		await one.write(labDocument(base));
		expect((await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"])).code).toBe(0);
		await settled(one);
		await one.write(labDocument({ ...base, benchmarks: { gsm8k: TALK, aime: { command: "echo edited" } } }));

		const plan = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(plan.code, plan.text).toBe(2);
		expect(plan.stdout).toContain("1 to resubmit");
		expect(plan.stdout).toMatch(/-\/\+ driver\.benchmarks\.aime/);
		expect(plan.stdout).toMatch(/^\s+\+\s*echo edited$/m);

		const applied = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"]);
		expect(applied.code, applied.text).toBe(0);
		await settled(one);
		expect(await jobs(one.outputPath)).toHaveLength(3);
		expect((await one.gym(["logs", "aime", "-f", "lab.yaml", "--source", "driver"])).stdout).toContain(
			"edited",
		);
		const kept = JSON.parse((await one.gym(["state", "show", "lab/aime", "-f", "lab.yaml"])).stdout);
		expect(kept.history).toHaveLength(1);
	});

	it("cancels what is no longer in the file, and keeps its artifacts and history", async () => {
		const one = await project();
		const base = { outputPath: one.outputPath, benchmarks: { gsm8k: TALK, slow: { command: "sleep 300" } } };
		await one.write(labDocument(base));
		expect((await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"])).code).toBe(0);
		await one.write(labDocument({ ...base, benchmarks: { gsm8k: TALK } }));

		const plan = await one.gym(["plan", "-f", "lab.yaml"]);
		expect(plan.stdout, plan.text).toContain("1 to cancel");
		const applied = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"]);
		expect(applied.code, applied.text).toBe(0);
		await settled(one);
		const slow = (await jobs(one.outputPath)).filter((job) => job.workdir.endsWith("/slow"));
		expect(slow.map((job) => job.state)).toEqual(["CANCELLED"]);
		const plain = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(plain.code, plain.text).toBe(0);
		expect(await one.stateText()).toContain('"slow"');
	});

	it("shows a failed run as a decision, and apply leaves it", async () => {
		const one = await project();
		await one.write(labDocument({ outputPath: one.outputPath, benchmarks: { aime: { command: "exit 3" } } }));
		expect((await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"])).code).toBe(0);
		await settled(one);
		const plan = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(plan.code, plan.text).toBe(0);
		expect(plan.stdout).toMatch(/^! lab\/aime .*driver exited 3/m);
		const applied = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"]);
		expect(applied.code, applied.text).toBe(0);
		expect(await jobs(one.outputPath)).toHaveLength(1);
		const replaced = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve", "-replace", "lab/aime"]);
		expect(replaced.code, replaced.text).toBe(0);
		expect(await jobs(one.outputPath)).toHaveLength(2);
		expect((await one.gym(["cancel", "lab/aime", "-f", "lab.yaml", "--auto-approve"])).code).toBe(0);
	});

	it("cancels on request, and then waits for a decision", async () => {
		const one = await project();
		await one.write(
			labDocument({ outputPath: one.outputPath, benchmarks: { slow: { command: "sleep 300" } } }),
		);
		expect((await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"])).code).toBe(0);
		const cancelled = await one.gym(["cancel", "lab/slow", "-f", "lab.yaml", "--auto-approve"]);
		expect(cancelled.code, cancelled.text).toBe(0);
		await settled(one);
		expect(await statusOf(one)).toMatchObject({ "lab/slow": { status: "cancelled" } });
		expect((await one.gym(["plan", "-f", "lab.yaml"])).stdout).toMatch(/^! lab\/slow/m);
	});

	it("counts rollouts and rewards", async () => {
		const one = await project();
		const rows = [1, 0, 1, 1].map((reward) => JSON.stringify({ reward }));
		const command = `cd "$NEMO_GYM_BENCH_DIR/artifacts" && printf '%s\\n' 1 2 3 4 >rollouts_materialized_inputs.jsonl && printf '%s\\n' ${rows.map((row) => `'${row}'`).join(" ")} >rollouts.jsonl`;
		await one.write(labDocument({ outputPath: one.outputPath, benchmarks: { count: { command } } }));
		expect((await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"])).code).toBe(0);
		await settled(one);
		expect(await statusOf(one)).toMatchObject({
			"lab/count": { status: "succeeded", rollouts_done: 4, rollouts_expected: 4, reward_mean: 0.75 },
		});
		const table = await one.gym(["status", "-f", "lab.yaml"]);
		expect(table.stdout).toMatch(/succeeded\s+1\s+4\/4\s+0\.750 ± 0\.250/);
	});
});
