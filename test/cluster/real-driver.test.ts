/** The real driver: `gym apply` over ssh, the real Slurm, a stub model, and the real `gym eval run` of nemo-gym. */
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { waitFor } from "../setup/cluster.ts";
import { runProgram } from "../setup/slurm-cluster.ts";
import { labDocument, project } from "./gym.ts";
import { runDirs } from "./runs.ts";

const setup = (name: string) => fileURLToPath(new URL(`../setup/real-driver/${name}`, import.meta.url));
const CACHE = process.env.GYMFILE_TEST_CACHE ?? "/var/tmp/gymfile-test";

async function succeed(file: string, ...args: readonly string[]): Promise<string> {
	const done = await runProgram(file, args);
	expect(done.code, done.stderr).toBe(0);
	return done.stdout;
}

/** A folder that the cluster's user may write, with a short path: Ray puts sockets below it. */
async function openFolder(): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), "rd"));
	await chmod(folder, 0o777);
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

it("runs a benchmark of NeMo Gym to its rewards", { timeout: 900_000 }, async () => {
	const driver = join(CACHE, "real-driver");
	await succeed(setup("install"), driver);
	const scratch = await openFolder();
	const tasks = await openFolder();
	await succeed(setup("prepare"), tasks, driver);
	const answers = join(scratch, "answers.json");
	await writeFile(answers, await succeed(setup("answers"), tasks), { mode: 0o644 });

	const one = await project();
	await one.write(
		labDocument({
			outputPath: one.outputPath,
			compute: { extra_args: { mem: "4G", exclusive: true } },
			policy: { env: { STUB_ANSWERS: `lit:${answers}` }, mounts: [`${answers}:${answers}`] },
			driver: {
				env: {
					PATH: `lit:${driver}/venv/bin:/usr/bin:/bin`,
					HOME: `lit:${scratch}`,
					TMPDIR: `lit:${scratch}`,
					RAY_USAGE_STATS_ENABLED: "lit:0",
					MLFLOW_DISABLE_TELEMETRY: "lit:true",
				},
				mounts: [`${tasks}:${tasks}`],
			},
			benchmarks: {
				mcqa: {
					run: {
						config_paths: [`${tasks}/config.yaml`],
						split: "validation",
						limit: 2,
						skip_venv_if_present: true,
						uv_venv_dir: `${driver}/servers`,
					},
				},
			},
		}),
	);
	const applied = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"]);
	expect(applied.code, applied.text).toBe(0);

	const status = await waitFor(
		async () => {
			const { stdout } = await one.gym(["status", "-f", "lab.yaml", "-json"]);
			const event = stdout
				.trim()
				.split("\n")
				.map((line) => JSON.parse(line) as Record<string, unknown>)
				.find(({ type }) => type === "status");
			return ["pending", "running", "completing"].includes(String(event?.status)) ? null : event;
		},
		"the run to end",
		{ timeoutMs: 600_000 },
	);
	const logs = await one.gym(["logs", "mcqa", "-f", "lab.yaml", "-n", "30"]);
	expect(status, logs.text).toMatchObject({
		status: "succeeded",
		rollouts_done: 2,
		rollouts_expected: 2,
		reward_mean: 0.5,
	});

	const [runDir] = await runDirs(one);
	const rows = (await readFile(join(runDir!, "mcqa/artifacts/rollouts.jsonl"), "utf8")).trim().split("\n");
	const rewards = rows.map((row) => (JSON.parse(row) as { reward: number }).reward);
	expect(rewards.sort()).toEqual([0, 1]);
	expect(rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length).toBe(status.reward_mean);
	const table = await one.gym(["status", "-f", "lab.yaml"]);
	expect(table.stdout).toMatch(/succeeded\s+1\s+2\/2\s+0\.500/);
});
