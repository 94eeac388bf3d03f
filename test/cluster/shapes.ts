/** Documents with services over several nodes, and the processes of their jobs. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { on } from "../setup/cluster.ts";
import { labDocument, type Project, project } from "./gym.ts";
import { liveJobs, runDirs, settled } from "./runs.ts";
import { type StubFolder, type StubRecord, stubFolder } from "./stub-folder.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a document over several nodes says beyond the usual. */
export interface Shapes {
	/** Pools and their number of nodes. */
	readonly pools: Readonly<Record<string, number>>;
	/** GPUs of each node; jobs with less than 8, and ports of their own, share the nodes. */
	readonly gpus: number;
	/** Each gets a container, and the variables that its stubs need. */
	readonly services: Readonly<Record<string, Fields>>;
	readonly policy?: string;
	readonly benchmarks: Readonly<Record<string, string>>;
	readonly compute?: Fields;
	readonly otel?: Fields;
}

/** A document with these pools and services; its job has two tasks on each node, of which no service makes anything. */
export function shapesDocument(outputPath: string, stubs: StubFolder, shapes: Shapes) {
	const { pools, gpus, services, policy, benchmarks, compute, otel } = shapes;
	const withStubs = (service: Fields): Fields => {
		const tiers = ["prefill", "decode"].filter((key) => key in service);
		return {
			...service,
			...Object.fromEntries(tiers.map((key) => [key, withStubs(service[key] as Fields)])),
			env: { ...stubs.env, ...(service.env as Fields | undefined) },
		};
	};
	const nodePools = Object.entries(pools).map(([name, nodes]) => [
		name,
		{ partition: "batch", nodes, ntasks_per_node: 2, gpus_per_node: gpus },
	]);
	const named = Object.entries(services).map(([name, service]) => [
		name,
		withStubs({ container: "acme/serve:1", ...service }),
	]);
	const commands = Object.entries(benchmarks).map(([name, command]) => [name, { command }]);
	return {
		...labDocument({
			outputPath,
			benchmarks: Object.fromEntries(commands),
			driver: { policy_model: policy ?? null, env: stubs.env },
			compute: { node_pools: Object.fromEntries(nodePools), ...compute },
		}),
		services: Object.fromEntries(named),
		...(otel === undefined ? {} : { otel }),
	};
}

/** A living process of a job. */
export interface StepProcess {
	readonly pid: number;
	readonly step: string;
	readonly node: string;
	/** Is it what the step was started as, on that node? */
	readonly isLeader: boolean;
	readonly command: string;
}

/** The living processes of a job on all nodes. The batch script and its own programs have the job's name for a step. */
export async function processesOf(job: string): Promise<readonly StepProcess[]> {
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	const look = async (pid: string): Promise<readonly StepProcess[]> => {
		const read = (file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
		const [environ, cmdline] = await Promise.all([read("environ"), read("cmdline")]);
		const env = new Map(environ.split("\0").map((entry) => entry.split("=", 2) as [string, string]));
		if (env.get("SLURM_JOB_ID") !== job || cmdline === "") return [];
		return [
			{
				pid: Number(pid),
				step: env.get("SLURM_JOB_NAME") ?? "",
				node: env.get("SLURMD_NODENAME") ?? "",
				isLeader: env.get("SLURM_TASK_PID") === pid,
				command: cmdline.split("\0").join(" ").trim(),
			},
		];
	};
	return (await Promise.all(pids.map(look))).flat();
}

/** Addresses of the nodes, as texts see them. */
async function nodeAddresses(): Promise<ReadonlyMap<string, string>> {
	const { stdout } = await on("ctl", "getent", "ahostsv4", "node1", "node2", "node3", "node4");
	return new Map([...stdout.matchAll(/^(\S+)\s+STREAM\s+(\S+)$/gm)].map(([, ip, name]) => [ip!, name!]));
}

/** What a job's programs said. */
export interface Said {
	/** `NODE STEP: ARGUMENTS` of each program, in order; a node's address is written as `<NODE>`. */
	readonly lines: readonly string[];
	/** What all of them were told of the nodes. */
	readonly told: Readonly<Record<string, string>>;
	readonly records: readonly StubRecord[];
}

async function saidIn(stubs: StubFolder): Promise<Said> {
	const addresses = await nodeAddresses();
	const named = (text: string) =>
		text.replaceAll(/\b(?:\d+\.){3}\d+\b/g, (ip) => (addresses.has(ip) ? `<${addresses.get(ip)}>` : ip));
	const records = await stubs.records();
	const told = records.map(({ env }) =>
		Object.fromEntries(
			Object.entries(env)
				.filter(([name]) => /^(HEAD_NODE_IP|RAY_HEAD_NODE_IP|GYM_POOL_|GYM_RAY_)/.test(name))
				.map(([name, value]) => [name, named(value)]),
		),
	);
	for (const one of told) expect(one).toEqual(told[0]);
	const lines = records
		.filter(({ program }) => program !== "record")
		.map(({ host, env, argv }) => `${host} ${env.SLURM_JOB_NAME}: ${named(argv.join(" "))}`);
	return { lines: lines.sort(), told: told[0] ?? {}, records };
}

/** Submits the document; a test that fails leaves no job that would keep the nodes from the next. */
export async function submitted(one: Project, document: unknown, env = {}): Promise<void> {
	onTestFinished(async () => {
		const ids = [...(await liveJobs(one)).values()].flat();
		if (ids.length > 0) await on("ctl", "scancel", ...ids);
	});
	await one.write(document);
	const applied = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"], env);
	expect(applied.code, applied.text).toBe(0);
}

/** Everything that a benchmark left in one of its folders, in one text. */
export async function textBelow(one: Project, benchmark: string, folder: string): Promise<string> {
	const [runDir] = await runDirs(one);
	const path = join(runDir!, benchmark, folder);
	const names = await readdir(path).catch(() => []);
	const texts = await Promise.all(names.map((name) => readFile(join(path, name), "utf8")));
	return texts.map((text, i) => `${names[i]}: ${text}`).join("\n");
}

/** Runs these documents side by side to their good ends. */
export async function run<Name extends string>(cases: Readonly<Record<Name, Shapes>>) {
	const jobs = await Promise.all(
		Object.entries<Shapes>(cases).map(async ([name, shapes]) => {
			const [one, stubs] = [await project(), await stubFolder()];
			await submitted(one, shapesDocument(one.outputPath, stubs, shapes));
			return { name, one, stubs };
		}),
	);
	const said = jobs.map(async ({ name, one, stubs }) => {
		await settled(one);
		const ends = await textBelow(one, "run", "ends");
		expect(ends, `${name}\n${await textBelow(one, "run", "logs")}`).toContain("exit=0 why=finished");
		return [name, await saidIn(stubs)] as const;
	});
	return Object.fromEntries(await Promise.all(said)) as Record<Name, Said>;
}
