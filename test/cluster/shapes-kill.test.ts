/** A service that ends while models load or a benchmark runs ends the job, which names it and leaves nothing behind. */
import { describe, expect, it } from "vitest";
import { jobs, waitFor } from "../setup/cluster.ts";
import { project } from "./gym.ts";
import { processesOf, type Shapes, shapesDocument, submitted, textBelow } from "./shapes.ts";
import { stubFolder } from "./stub-folder.ts";

/** One process of a job over two nodes, the first of which has the driver. */
interface Victim {
	readonly step: string;
	readonly node: 0 | 1;
	/** Part of its command; default: the process that the step was started as. */
	readonly program?: string;
	readonly signal?: NodeJS.Signals;
}

const STEPS: readonly Victim[] = [
	{ step: "split-prefill", node: 0 },
	{ step: "split-decode", node: 1 },
	{ step: "split", node: 0 },
	{ step: "judge", node: 0 },
	{ step: "judge", node: 1 },
	{ step: "cluster", node: 0 },
	{ step: "cluster-b-workers", node: 1 },
	{ step: "big", node: 0 },
	{ step: "big", node: 1 },
];

const WAIT = { timeoutMs: 500_000 };

/** Every shape on two whole nodes, so that two jobs run side by side. */
function document(victims: readonly Victim[], ray: object): Shapes {
	const health_check = { timeout_seconds: 600 };
	const vllm = (fields: object) => ({ type: "vllm", model: "acme/m", health_check, ...fields });
	return {
		pools: { a: 1, b: 1 },
		gpus: 8,
		services: {
			split: {
				...{ type: "vllm_pd", model: "acme/m", health_check },
				prefill: { node_pool: "a", health_check },
				decode: { node_pool: "b", health_check },
			},
			judge: vllm({ port: 8010, number_of_instances: 2 }),
			cluster: { type: "ray", node_pools: ["a", "b"], port: 6380 },
			big: vllm({ port: 8020, pipeline_parallel_size: 2, env: ray }),
		},
		policy: "split",
		benchmarks: Object.fromEntries(victims.map((_, i) => [`kill-${i}`, "exec sleep 3600"])),
	};
}

/** The first process of the job that it is about; none before all steps have one, or before the benchmark runs. */
async function find(job: string, victim: Victim, phase: "loading" | "running"): Promise<number | undefined> {
	const all = await processesOf(job);
	const runs = all.some(({ command }) => command === "sleep 3600");
	const nodes = [...new Set(all.map(({ node }) => node))].sort();
	const at = ({ step, node }: Victim) => all.filter((one) => one.step === step && one.node === nodes[node]);
	if (runs !== (phase === "running") || !STEPS.every((step) => at(step).length > 0)) return undefined;
	const { program } = victim;
	return at(victim).find((one) => (program ? one.command.includes(program) : one.isLeader))?.pid;
}

/** Kills one process in each job of a document, and looks at how they end. */
async function killEach(
	victims: readonly Victim[],
	phase: "loading" | "running",
	ray: Readonly<Record<string, string>> = {},
): Promise<void> {
	const [one, stubs] = [await project(), await stubFolder()];
	if (phase === "loading") await stubs.gate("load");
	await submitted(one, shapesDocument(one.outputPath, stubs, document(victims, ray)));
	const rowOf = async (benchmark: string) =>
		(await jobs(`${one.outputPath}/`)).find(({ workdir }) => workdir.endsWith(`/${benchmark}`));
	const work = victims.map(async (victim, i) => {
		const benchmark = `kill-${i}`;
		const job = String((await rowOf(benchmark))!.id);
		const pid = await waitFor(() => find(job, victim, phase), `${benchmark} to be ${phase}`, WAIT);
		const since = performance.now();
		process.kill(pid, victim.signal ?? "SIGKILL");
		const state = await waitFor(
			async () => {
				const row = await rowOf(benchmark);
				return row !== undefined && !["RUNNING", "COMPLETING"].includes(row.state) && row.state;
			},
			`${benchmark} to end`,
			WAIT,
		);
		const seconds = ((performance.now() - since) / 1000).toFixed(1);
		const what = `${victim.step} on node ${victim.node + 1} (${victim.signal ?? "SIGKILL"}, ${phase})`;
		console.log(`${what}: the job has ended after ${seconds} s`);
		const log = await textBelow(one, benchmark, "logs");
		expect(state, what).toBe("FAILED");
		expect(await textBelow(one, benchmark, "ends"), `${what}\n${log}`).toMatch(
			new RegExp(`exit=1 why=service .*name=${victim.step}\n`),
		);
		expect(log, what).toContain(`gym: the service ${victim.step} has ended; its log is`);
		expect(await processesOf(job), what).toEqual([]);
	});
	await Promise.all(work);
}

describe("a service that ends", { timeout: 600_000 }, () => {
	it("ends the job while the models load", async () => {
		await killEach(STEPS, "loading");
	});

	it("ends the job while the benchmark runs", async () => {
		const inside: readonly Victim[] = [
			{ step: "big", node: 0, program: "/vllm serve" },
			{ step: "big", node: 1, signal: "SIGTERM" },
		];
		await killEach([...STEPS, ...inside], "running");
	});

	it("ends the job when an older Ray is used", async () => {
		const ends: readonly Victim[] = [
			{ step: "big", node: 0 },
			{ step: "big", node: 1, signal: "SIGTERM" },
		];
		await killEach(ends, "running", { STUB_RAY_OLD: "lit:1" });
	});
});
