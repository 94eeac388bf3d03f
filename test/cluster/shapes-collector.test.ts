/** The collector beside the driver: it alone knows the token, its end ends nothing, and it hears of the driver's end. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { jobs, on, waitFor } from "../setup/cluster.ts";
import { runProgram } from "../setup/slurm-cluster.ts";
import { type Project, project } from "./gym.ts";
import { runDirs, settled } from "./runs.ts";
import { processesOf, type Shapes, shapesDocument, submitted, textBelow } from "./shapes.ts";
import { type StubFolder, stubFolder } from "./stub-folder.ts";

const TOKEN = `token${process.pid}x${Date.now().toString(36)}`;
const SCRAPE_SECONDS = 2;

/** A policy on the second pool, a router on the first: the collector's neighbours, on whole nodes. */
const DOCUMENT: Shapes = {
	pools: { a: 1, b: 1 },
	gpus: 8,
	services: {
		policy: { type: "vllm", model: "acme/m", node_pool: "b", port: 8010 },
		split: {
			...{ type: "vllm_pd", model: "acme/m", health_check: {} },
			prefill: { node_pool: "a" },
			decode: { node_pool: "b" },
		},
	},
	policy: "policy",
	benchmarks: { run: 'until [[ -e "$NEMO_GYM_BENCH_DIR/go" ]]; do sleep 0.1; done' },
	compute: { forward_env: ["OTEL_TOKEN", "STUB_RECORD"] },
	otel: {
		...{ endpoint: "https://telemetry.example/otlp", service_name: "evals", gym_telemetry: false },
		scrape_interval_seconds: SCRAPE_SECONDS,
	},
};

/** A job whose benchmark runs until the file `go` is there. */
async function started(
	one: Project,
	stubs: StubFolder,
): Promise<{ readonly job: string; readonly bench: string }> {
	const shell = { OTEL_TOKEN: TOKEN, STUB_RECORD: stubs.env.STUB_RECORD!.replace("lit:", "") };
	await submitted(one, shapesDocument(one.outputPath, stubs, DOCUMENT), shell);
	const [row] = await jobs(`${one.outputPath}/`);
	const job = String(row!.id);
	const runs = async () => (await processesOf(job)).some(({ command }) => command === "sleep 0.1");
	await waitFor(runs, "the benchmark to run", { timeoutMs: 150_000 });
	const [runDir] = await runDirs(one);
	return { job, bench: join(runDir!, "run") };
}

/** Lets the benchmark end. */
async function go(bench: string): Promise<void> {
	const { code, stderr } = await runProgram("touch", [join(bench, "go")]);
	expect(code, stderr).toBe(0);
}

async function slurmSays(...command: readonly string[]): Promise<string> {
	const { code, stdout, stderr } = await on("ctl", ...command);
	expect(code, stderr).toBe(0);
	return stdout;
}

it("has the token in its environment alone, and ends after the driver", async () => {
	const [one, stubs] = [await project(), await stubFolder()];
	const { job, bench } = await started(one, stubs);
	const records = await stubs.records();
	const collector = records.find(({ program }) => program === "otelcol-contrib")!;
	const config = join(bench, "otel/collector.yaml");
	expect(collector).toMatchObject({
		argv: ["otelcol-contrib", "--config", config],
		cwd: bench,
		env: { OTEL_TOKEN: TOKEN, SLURM_NTASKS: "1", SLURM_JOB_NAME: "otel_collector" },
	});
	// The policy's node is the driver's; the other one is told by name.
	const policy = records.find(({ env }) => env.SLURM_JOB_NAME === "policy")!;
	const router = records.find(({ program }) => program === "vllm-router")!;
	expect([collector.host, router.host]).toEqual([policy.host, policy.host]);
	expect(policy.env.CUDA_VISIBLE_DEVICES).toBe("0,1,2,3,4,5,6,7");
	for (const { env } of [collector, router]) expect(env.SLURM_STEP_GPUS ?? "").toBe("");
	const [first] = policy.env.GYM_POOL_A_NODES!.split(",");
	expect(collector.env.GYM_HOST_0).toBe(first);
	expect(await readFile(config, "utf8")).toContain("${env:GYM_HOST_0}:8001");

	const commands = (await processesOf(job)).map(({ command }) => command).join("\n");
	expect(commands).toContain("otelcol-contrib");
	expect(commands).not.toContain(TOKEN);
	expect(await slurmSays("scontrol", "show", "job", "-dd", job)).not.toContain(TOKEN);
	expect(await slurmSays("scontrol", "show", "step", job)).not.toContain(TOKEN);
	expect(await slurmSays("scontrol", "write", "batch_script", job, "-")).not.toContain(TOKEN);
	await go(bench);
	await settled(one);

	const [runDir] = await runDirs(one);
	const found = await runProgram("grep", ["-rlaF", "-e", TOKEN, runDir!, one.folder]);
	expect(found).toMatchObject({ code: 1, stdout: "" });
	const accounted = await slurmSays("sacct", "-P", "-j", job, "-o", "ALL");
	expect(accounted).toContain("otel_collector");
	expect(accounted).not.toContain(TOKEN);

	const end = await textBelow(one, "run", "ends");
	const [, at] = /exit=0 why=finished at=(\d+) .*collector=ok/.exec(end) ?? [];
	const path = stubs.env.STUB_RECORD!.replace("lit:", "");
	const stopped = (await readdir(path)).filter((name) => name.startsWith("stopped-"));
	expect(stopped).toEqual([`stopped-${collector.pid}`]);
	expect(Number(await readFile(join(path, stopped[0]!), "utf8")) - Number(at), end).toBeGreaterThanOrEqual(
		SCRAPE_SECONDS,
	);
	expect(await processesOf(job)).toEqual([]);
});

it("may die, and the run goes on", async () => {
	const [one, stubs] = [await project(), await stubFolder()];
	const { job, bench } = await started(one, stubs);
	const collector = (await stubs.records()).find(({ program }) => program === "otelcol-contrib")!;
	process.kill(collector.pid, "SIGKILL");
	await waitFor(
		async () => (await readFile(join(bench, "chain.jsonl"), "utf8")).includes('"event":"collector"'),
		"the collector's end in the journal",
	);
	expect((await processesOf(job)).map(({ step }) => step)).toEqual(
		expect.arrayContaining(["policy", "split", "driver"]),
	);
	await go(bench);
	await settled(one);
	expect(await textBelow(one, "run", "ends")).toMatch(/exit=0 why=finished .*collector=died/);
	expect(await textBelow(one, "run", "logs")).toContain("gym: the collector has ended; its log is");
	expect(await processesOf(job)).toEqual([]);
});
