/**
 * Recovery of resume chains: commands that change them are killed at each of their points, then run again. In the
 * end each benchmark has one job at work and its one successor, and apply has nothing to do. The table is printed.
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { jobs, on, timeoutJob, waitFor } from "../setup/cluster.ts";
import { CANCEL_POINTS, SUBMIT_POINTS } from "../setup/points.ts";
import { type Chains, chainProject, chainsOf, endJobs, playing, steered } from "./chain.ts";
import { type Project, project } from "./gym.ts";
import { rowsOf, told } from "./recovery.ts";
import { runDirs } from "./runs.ts";
import { wrap } from "./sbatch-wrapper.ts";

/** Points are tried in that many projects at a time: most of a row is waiting for the cluster. */
const LANES = 6;

const LIST = { GYMFILE_TEST_LIST_POINTS: "1" };

/** A command on chains, in a project of its own that is used again and again. */
interface Lane {
	readonly one: Project;
	readonly names: readonly string[];
	readonly args: readonly string[];
	/** An apply of the same document. */
	readonly apply: readonly string[];
	/** Brings the chains to where the command has something to do; `first` is the benchmark it begins with. */
	prepare(first?: string): Promise<void>;
	/** What else must hold in the end. */
	check(): Promise<void>;
}

/** The chains of each benchmark's current run. */
async function current(one: Project, name: string): Promise<Chains & { readonly jobDir: string }> {
	const { jobDir } = JSON.parse(await one.stateText()).benchmarks[name].current;
	return { ...(await chainsOf(one, jobDir.slice(0, jobDir.lastIndexOf("/")))), jobDir };
}

/** Waits until a job of a benchmark is at work; it and the one that waits for its end are the only ones. */
async function expectPair(one: Project, name: string, context: string): Promise<readonly [string, string]> {
	const { events, jobDir } = await current(one, name);
	const [working, next] = await waitFor(async () => {
		const all = await events(name);
		const last = all.filter(({ event }) => event === "start").at(-1)?.job;
		const of = (event: string) => all.findLast((line) => line.event === event && line.job === last);
		return of("run") && !of("end") && ([String(last), String(of("next")?.next)] as const);
	}, `a job of ${name} to run\n${context}`);
	const ours = (await jobs(`${one.outputPath}/`)).filter(({ workdir }) => workdir.endsWith(`/${name}`));
	const live = ours.filter(({ state }) => ["PENDING", "RUNNING", "COMPLETING"].includes(state));
	expect(live, context).toEqual([
		{ id: Number(working), state: "RUNNING", workdir: jobDir },
		{ id: Number(next), state: "PENDING", workdir: jobDir },
	]);
	return [working, next];
}

const gymfile = (outputPath: string, env: Readonly<Record<string, string>>, benchmarks: readonly string[]) =>
	`import { App, Benchmark, Driver, EvalStack, lit, Otel, SlurmCompute } from "gymfile";

const app = new App();
const stack = new EvalStack(app, "lab", { outputPath: ${JSON.stringify(outputPath)} });
new SlurmCompute(stack, "lab", { account: "acct", hostname: "login", walltime: "10" });
new Driver(stack, "driver", { env: { PATH: lit(${JSON.stringify(env.PATH!.slice("lit:".length))}) } });
new Otel(stack, "otel", { enabled: false });
${benchmarks.join("\n")}

export default app;
`;

/** A chain whose successor was lost (`>`), one whose limits change (`~`), one whose job changes (`-/+`). */
async function applyLane(): Promise<Lane> {
	const { driver } = await steered();
	const one = await project();
	onTestFinished(() => endJobs(one));
	const names = ["lost", "limits", "job"];
	let version = 0;
	const write = (first: string) => {
		const benchmarks: Readonly<Record<string, string>> = {
			lost: `{ run: { play: "work" }, resumable: true }`,
			limits: `{ run: { play: "work" }, resumable: { maxRetries: ${100 + version} } }`,
			job: `{ run: { play: "work", version: ${version} }, resumable: true, lifecycle: { onChange: "replace" } }`,
		};
		const order = [first, ...names.filter((name) => name !== first)];
		const lines = order.map((name) => `new Benchmark(stack, "${name}", ${benchmarks[name]});`);
		return writeFile(join(one.folder, "gymfile.ts"), gymfile(one.outputPath, driver.env, lines));
	};
	await write("lost");
	const apply = ["apply", "--auto-approve"];
	const applied = await one.gym(apply);
	expect(applied.code, applied.text).toBe(0);
	return {
		one,
		names,
		args: apply,
		apply,
		async prepare(first = "job") {
			for (const name of names) await expectPair(one, name, "before");
			const refusing = join(one.outputPath, "no-sbatch");
			await writeFile(refusing, "");
			const [working, next] = await expectPair(one, "lost", "before");
			await timeoutJob(working);
			const lost = await current(one, "lost");
			await waitFor(
				async () =>
					(await lost.events("lost")).some(({ job, event }) => String(job) === next && event === "run"),
				"the last job of the chain to run",
			);
			await timeoutJob(next);
			await lost.over("lost");
			await rm(refusing);
			version++;
			await write(first);
		},
		async check() {
			const limits = await current(one, "limits");
			expect(JSON.parse((await limits.file("limits", "budget.json"))!)).toMatchObject({
				max_retries: 100 + version,
			});
			expect(await runDirs(one)).toHaveLength(1 + version);
			const lost = await current(one, "lost");
			expect((await lost.decisions("lost")).map((word) => word.replace(" (resumed)", ""))).toEqual(
				Array(2 * version).fill("TIMEOUT resume"),
			);
		},
	};
}

/** A chain that was cancelled, and that a person goes on with. */
async function resumeLane(): Promise<Lane> {
	const { driver } = await steered();
	const names = ["talk"];
	const one = await chainProject(Object.fromEntries(names.map((name) => [name, playing("work")])), {
		driver,
	});
	const flags = ["-f", "lab.yaml", "--auto-approve"];
	const applied = await one.gym(["apply", ...flags]);
	expect(applied.code, applied.text).toBe(0);
	return {
		one,
		names,
		args: ["resume", ...names, ...flags],
		apply: ["apply", ...flags],
		async prepare() {
			for (const name of names) await expectPair(one, name, "before");
			const cancelled = await one.gym(["cancel", ...names, ...flags]);
			expect(cancelled.code, cancelled.text).toBe(0);
		},
		check: async () => expect(await runDirs(one)).toHaveLength(1),
	};
}

/** Runs the command again, and looks at what is there then; @returns what it did, for the table. */
async function recover({ one, names, args, apply, check }: Lane): Promise<string> {
	const again = await one.gym([...args, "-json"]);
	// A resume that had all done is refused: its runs are live.
	const refused = again.code === 4 && again.text.includes("not-resumable");
	const applied = refused ? await one.gym([...apply, "-json"]) : again;
	expect(applied.code, applied.text).toBe(0);
	for (const name of names) await expectPair(one, name, applied.text);
	const held = (await on("ctl", "squeue", "-h", "-o", "%Z|%r")).stdout.split("\n");
	expect(held.filter((row) => row.startsWith(`${one.outputPath}/`) && row.includes("JobHeld"))).toEqual([]);
	await check();
	const last = await one.gym([...apply, "-json"]);
	expect(last.code, last.text).toBe(0);
	expect(told(last).actions, last.text).toEqual(names.map(() => "none"));
	expect(told(last).did).toEqual([]);
	return (
		[...new Set([...(refused ? ["nothing to resume"] : []), ...told(applied).did])].join(", ") ||
		"all was done already"
	);
}

/** What is tried of a command. */
interface Matrix {
	readonly lane: () => Promise<Lane>;
	/** Points in its remote scripts, and the benchmark that the command begins with then. */
	readonly remote: readonly (readonly [point: string, first?: string])[];
}

const MATRIX: Readonly<Record<string, Matrix>> = {
	"apply (> ~ -/+)": {
		lane: applyLane,
		remote: [
			...[...SUBMIT_POINTS, ...CANCEL_POINTS].map((point) => [point, "job"] as const),
			...SUBMIT_POINTS.slice(1, -1).map((point) => [point, "lost"] as const),
		],
	},
	resume: { lane: resumeLane, remote: SUBMIT_POINTS.map((point) => [point] as const) },
};

describe("recovery of chains", () => {
	const table: string[] = [];
	afterAll(() => console.log(table.join("\n")));

	it.each(Object.entries(MATRIX))(
		"%s is killed at each point",
		async (name, { lane, remote }) => {
			await wrap("sbatch", "[[ $SLURM_JOB_ID && $PWD == */lost && -e ../../no-sbatch ]]", ["exit 1"]);
			const rows = rowsOf(name, table);
			const first = await lane();
			await first.prepare();
			const listed = await first.one.gym(first.args, LIST);
			expect(listed.code, listed.text).toBe(0);
			const points = new Set([...listed.stderr.matchAll(/^point (\S+)$/gm)].map((match) => match[1]!));
			expect([...points]).toEqual(
				expect.arrayContaining(["lock.acquired", "state.intent.linked", "lock.release"]),
			);

			const left = [...[...points].map((point) => [point] as const), ...remote];
			const work = async (one: Lane) => {
				for (let next = left.shift(); next; next = left.shift()) {
					const [point, begins] = next;
					const inside = points.has(point) ? "" : `of the remote script${begins ? `, ${begins} first` : ""}`;
					await rows.add(point, `SIGKILL ${inside}`, async () => {
						await one.prepare(begins);
						const stopped = await one.one.gym(one.args, { GYMFILE_TEST_STOP_AT: point });
						if (inside) expect(stopped.code, stopped.text).toBe(1);
						else expect(stopped.signal, stopped.text).toBe("SIGKILL");
						return recover(one);
					});
				}
			};
			const others = Array.from({ length: LANES - 1 }, async () => work(await lane()));
			await Promise.all([work(first), ...others]);
			expect(rows.failures).toEqual([]);
		},
		300_000,
	);
});
