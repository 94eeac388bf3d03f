import { describe, expect, test } from "vitest";
import { runJob } from "../../property/run-script.ts";
import { job, map } from "./document.ts";

const end = (ran: { file(name: string): string | null }) => ran.file("ends/77")!.trim();
const events = (ran: { file(name: string): string | null }) =>
	ran
		.file("chain.jsonl")!
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));

describe("a segment", () => {
	test("that succeeds records its end and its events", async () => {
		const ran = await runJob(job());
		expect(ran.code).toBe(0);
		expect(end(ran)).toMatch(/^exit=0 why=finished at=\d{10} elapsed=\d+ name=$/);
		expect(events(ran).map(({ event }) => event)).toEqual(["start", "run", "end"]);
		expect(events(ran).at(-1)).toMatchObject({ job: 77, exit: 0, why: "finished", name: "" });
		expect(ran.args("scancel")).toContain("77.0");
		expect(ran.args("scancel")).not.toContain("77.batch");
	});

	test("ends with the driver's exit code", async () => {
		const ran = await runJob(job(), { env: { GYM_EXIT: "7" } });
		expect(ran.code).toBe(7);
		expect(end(ran)).toMatch(/^exit=7 why=driver /);
	});

	test("never runs when preparing failed", async () => {
		const prepared = job({ benchmark: { prepare: map({ split: "dev" }), run: map({}) } });
		const ran = await runJob(prepared, { env: { GYM_EXIT: "3" } });
		expect(ran.code).toBe(3);
		expect(ran.args("gym-run")).toBeNull();
	});

	test("names a service that died", async () => {
		const ran = await runJob(job(), { env: { VLLM_EXIT: "0", SILENT: "1" } });
		expect(ran.code).toBe(1);
		expect(end(ran)).toMatch(/^exit=1 why=service .* name=speaker$/);
		expect(ran.stderr).toContain("speaker has ended; its log is logs/speaker-77.log");
		expect(ran.args("gym-run")).toBeNull();
	});

	test("gives up on a service that never answers", async () => {
		const slow = job({ service: { health_check: map({ timeout_seconds: 1 }) } });
		const ran = await runJob(slow, { env: { SILENT: "1" } });
		expect(ran.code).toBe(1);
		expect(end(ran)).toMatch(/^exit=1 why=unhealthy .* name=speaker$/);
		expect(ran.args("gym-run")).toBeNull();
	});

	test("does nothing when the chain was stopped", async () => {
		const ran = await runJob(job(), { files: { control: "stop\n" } });
		expect(ran.code).toBe(0);
		expect(end(ran)).toMatch(/^exit=0 why=stopped /);
		expect(ran.args("srun-driver")).toBeNull();
	});

	test("starts when the control file says nothing", async () => {
		const ran = await runJob(job(), { files: { control: "" } });
		expect(end(ran)).toMatch(/why=finished/);
	});

	test("that is warned asks the driver to stop and is a timeout, whatever the driver returned", async () => {
		const ran = await runJob(job(), {
			env: { GYM_WAIT: "1" },
			whenRunning: (pid) => process.kill(pid, "SIGUSR1"),
		});
		expect(ran.code).toBe(85);
		expect(end(ran)).toMatch(/^exit=85 why=timeout /);
		expect(events(ran).map(({ event }) => event)).toContain("warning");
	});

	test("that is ended from outside records it", async () => {
		const ran = await runJob(job(), {
			env: { GYM_WAIT: "1" },
			whenRunning: (pid) => process.kill(pid, "SIGTERM"),
		});
		expect(ran.code).toBe(143);
		expect(end(ran)).toMatch(/^exit=143 why=terminated /);
	});
});

describe("what a step sees", () => {
	test("its own variables win over the image's", async () => {
		const debug = job({ service: { env: map({ NCCL_DEBUG: "lit:INFO" }) } });
		const ran = await runJob(debug, { env: { IMAGE_ENV: "NCCL_DEBUG=VERSION" } });
		expect(ran.env("vllm").get("NCCL_DEBUG")).toBe("INFO");
	});

	test("an unset runtime variable is empty, and names of the script's own do not hide the job's", async () => {
		const live = job({ driver: { env: map({ A: "runtime:NOT_SET", B: "runtime:id", C: "runtime:why" }) } });
		const ran = await runJob(live, { env: { id: "mine", why: "because" } });
		expect([..."ABC"].map((name) => ran.env("gym-run").get(name))).toEqual(["", "mine", "because"]);
	});

	test("a secret is in no argument, and two steps may set one name differently", async () => {
		const secret = job({
			service: { env: map({ TOKEN: "host:ONE" }) },
			driver: { env: map({ TOKEN: "host:TWO" }) },
		});
		const ran = await runJob(secret, {
			host: new Map([
				["ONE", "first-secret"],
				["TWO", "second-secret"],
			]),
		});
		expect(ran.env("vllm").get("TOKEN")).toBe("first-secret");
		expect(ran.env("gym-run").get("TOKEN")).toBe("second-secret");
		for (const step of ["srun-speaker", "srun-driver"])
			expect(ran.args(step)!.join(" ")).not.toContain("-secret");
		expect(ran.env("srun-speaker").get("TOKEN")).toBeUndefined();
		expect(ran.file(".env")).toBeNull();
	});

	test("one address of the driver's host, and the hosts of each pool", async () => {
		const pools = new Map([
			["front", map({ partition: "batch", gpus_per_node: 4 })],
			["back-2", map({ partition: "batch", nodes: 2, gpus_per_node: 4 })],
		]);
		const pinned = job({ pools, service: { node_pool: "front" } });
		const ran = await runJob(pinned);
		expect(ran.env("gym-run").get("HEAD_NODE_IP")).toBe("10.0.0.1");
		expect(ran.env("gym-run").get("GYM_POOL_FRONT_NODES")).toBe("n1");
		expect(ran.env("vllm").get("GYM_POOL_BACK_2_NODES")).toBe("n2,n3");
	});

	test("a command may be longer than any argument", async () => {
		const ran = await runJob(job({ benchmark: { command: `: ${"x".repeat(300_000)}\nharness done` } }));
		expect(ran.args("harness")).toEqual(["done"]);
	});

	test("a policy host of the job's is resolved for a command", async () => {
		const command = job({
			driver: { policy_host: "${oc.env:HEAD_NODE_IP}" },
			benchmark: { command: 'harness "$NEMO_GYM_POLICY_BASE_URL" "$NEMO_GYM_POLICY_MODEL_NAME"' },
		});
		const ran = await runJob(command);
		expect(ran.args("harness")).toEqual(["http://10.0.0.1:8000/v1", "acme/talker"]);
		expect(ran.env("harness").get("NEMO_GYM_BENCH_DIR")).toMatch(/\/sums$/);
	});
});
