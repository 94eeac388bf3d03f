/**
 * Recovery from anything: each command that changes jobs is stopped at each of its points, and in other ways, then
 * run again. In the end each benchmark has one job, or none, and apply has nothing to do. The table is printed.
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { cancelScript } from "../../src/cluster/slurm/cancel-script.ts";
import { submitScript } from "../../src/cluster/slurm/submit-script.ts";
import { noPoints } from "../../src/points.ts";
import { as, on, waitFor } from "../setup/cluster.ts";
import { type GymResult, labDocument, type Project, project } from "./gym.ts";
import { liveJobs, runDirs, settled } from "./runs.ts";
import { gateSbatch, STAND_INS, wrapSbatch } from "./sbatch-wrapper.ts";
import { processWith, resetConnection } from "./ssh-session.ts";
import { stubFolder } from "./stub-folder.ts";

const SLEEP = { command: "sleep 300" };
const BENCHMARKS = { gsm8k: SLEEP, aime: SLEEP };
const NAMES = Object.keys(BENCHMARKS).sort();
const FLAGS = ["-f", "lab.yaml", "--auto-approve"];
const APPLY = ["apply", ...FLAGS];
const exchange = (name: string) => [`exchange.${name}.before`, `exchange.${name}.after`];
const write = (why: string) => [`state.${why}.before`, `state.${why}.staged`, `state.${why}.linked`];
const locked = (...points: readonly string[]) => ["lock.acquired", ...points, "lock.release"];

const SUBMIT_POINTS = [
	"submit.staged",
	"submit.accepted",
	"submit.recorded",
	"submit.release",
	"submit.released",
	"submit.written",
];
const CANCEL_POINTS = ["cancel.marked", "cancel.done"];

const SUBMITTING = [...write("intent"), ...exchange("submit"), ...write("submitted")];
const CANCELLING = locked(...exchange("observe"), ...exchange("cancel"), ...write("cancelled"));

interface Command {
	readonly args: readonly string[];
	/** Points in this process. */
	readonly points: readonly string[];
	/** Points in its remote script. */
	readonly remote: readonly string[];
	/** Is a job of each benchmark there in the end? */
	readonly live: boolean;
	/** What has to be before the command, in a new project or in that of the last time. */
	readonly prepare: (last: Project | null) => Promise<Project>;
}

async function fresh(benchmarks: Readonly<Record<string, unknown>> = BENCHMARKS): Promise<Project> {
	const one = await project();
	onTestFinished(() => endJobs(one));
	await one.write(labDocument({ outputPath: one.outputPath, benchmarks }));
	return one;
}

async function endJobs(one: Project): Promise<void> {
	const ids = [...(await liveJobs(one)).values()].flat();
	if (ids.length > 0) await as("scancel", ...ids);
}

async function applied(benchmarks: Readonly<Record<string, unknown>> = BENCHMARKS): Promise<Project> {
	const one = await fresh(benchmarks);
	const { code, text } = await one.gym(APPLY);
	expect(code, text).toBe(0);
	return one;
}

/** Runs that failed; the next time they would go on. */
async function failed(): Promise<Project> {
	const mended = join((await stubFolder()).path, "mended");
	const command = `test -e ${mended} || exit 3; sleep 300`;
	const one = await applied(Object.fromEntries(NAMES.map((name) => [name, { command }])));
	await settled(one);
	await writeFile(mended, "");
	return one;
}

const COMMANDS: Readonly<Record<string, Command>> = {
	apply: {
		args: APPLY,
		points: locked(...exchange("observe"), ...exchange("find"), ...SUBMITTING),
		remote: SUBMIT_POINTS,
		live: true,
		prepare: () => fresh(),
	},
	cancel: {
		args: ["cancel", ...NAMES, ...FLAGS],
		points: CANCELLING,
		remote: CANCEL_POINTS,
		live: false,
		prepare: () => applied(),
	},
	destroy: {
		args: ["destroy", "lab", ...FLAGS],
		points: CANCELLING,
		remote: CANCEL_POINTS,
		live: false,
		prepare: () => applied(),
	},
	adopt: {
		args: APPLY,
		points: locked(...exchange("observe"), ...exchange("find"), ...write("adopted")),
		remote: [],
		live: true,
		async prepare(last) {
			const one = last ?? (await applied());
			await rm(join(one.folder, ".gym"), { recursive: true });
			return one;
		},
	},
	resume: {
		args: ["resume", ...NAMES, ...FLAGS],
		points: locked(...exchange("observe"), ...SUBMITTING),
		remote: SUBMIT_POINTS,
		live: true,
		async prepare(last) {
			if (!last) return failed();
			await endJobs(last);
			await settled(last);
			return last;
		},
	},
};

/** What a command told with `-json`: the actions of its plan, and what it did. */
function told({ stdout }: GymResult): {
	readonly actions: readonly string[];
	readonly did: readonly string[];
} {
	const lines = stdout.split("\n").filter((line) => line !== "");
	const events = lines.map((line) => JSON.parse(line));
	return {
		actions: events.flatMap(({ type, action }) => (type === "planned_change" ? [action] : [])),
		did: events.flatMap(({ type, outcome }) => (type === "apply_outcome" ? [outcome] : [])),
	};
}

/** Apply, which must succeed. */
async function apply(one: Project): Promise<GymResult> {
	const result = await one.gym([...APPLY, "-json"]);
	expect(result.code, result.text).toBe(0);
	return result;
}

/** Runs the command again, then apply until it has nothing to do; @returns what happened, for the table. */
async function recover(one: Project, { args, live }: Command): Promise<string> {
	const again = await one.gym([...args, "-json"]);
	// A resume that had all done is refused: its run is live.
	const refused = args[0] === "resume" && again.code === 4;
	if (refused) expect(again.text).toContain("not-resumable");
	else expect(again.code, again.text).toBe(0);
	const did = [...(refused ? ["nothing to resume"] : told(again).did)];
	if (refused) did.push(...told(await apply(one)).did);
	await expectEnd(one, live, again);
	return [...new Set(did)].join(", ") || "all was done already";
}

/** One job of each benchmark and none held, or no job; the state says so, and apply has nothing to do. */
async function expectEnd(one: Project, live: boolean, after: GymResult): Promise<void> {
	const found = await liveJobs(one);
	expect([...found.keys()].sort(), after.text).toEqual(live ? NAMES : []);
	const last = await apply(one);
	expect(told(last).actions, last.text).toEqual(NAMES.map(() => (live ? "none" : "decide")));
	expect(told(last).did).toEqual([]);
	const { benchmarks } = JSON.parse(await one.stateText());
	for (const name of NAMES) {
		const { current, history } = benchmarks[name];
		expect(current.status, after.text).toMatch(live ? /^(pending|running)$/ : /^cancelled$/);
		if (live) expect(found.get(name)).toEqual([current.segments.at(-1).jobId]);
		expect(history).toEqual([]);
	}
	expect(await liveJobs(one)).toEqual(found);
	expect(await runDirs(one)).toHaveLength(1);
	const rows = (await on("ctl", "squeue", "-h", "-o", "%Z|%r")).stdout.split("\n");
	expect(rows.filter((row) => row.startsWith(`${one.outputPath}/`) && row.includes("JobHeld"))).toEqual([]);
}

describe("recovery from anything", () => {
	const table: string[] = [];

	/** Rows of one command; a case that fails is one too, and the next ones are still tried. */
	function rowsOf(command: string) {
		const failures: string[] = [];
		return {
			failures,
			async add(point: string, way: string, work: () => Promise<string>): Promise<void> {
				const start = [command.padEnd(8), point.padEnd(24), way.padEnd(32)].join(" ");
				const outcome = await work().catch((error: Error) => {
					failures.push(`${start} ${error.message}`);
					return "FAILED";
				});
				table.push(`${start} ${outcome}`);
			},
		};
	}

	afterAll(() => console.log(table.join("\n")));

	it.each(Object.entries(COMMANDS))(
		"%s is stopped at each point",
		async (name, command) => {
			const rows = rowsOf(name);
			let last: Project | null = null;
			for (const point of [...command.points, ...command.remote]) {
				const inside = command.remote.includes(point);
				await rows.add(point, inside ? "SIGKILL of the remote script" : "SIGKILL", async () => {
					const one: Project = await command.prepare(last);
					last = one;
					const stopped = await one.gym(command.args, { GYMFILE_TEST_STOP_AT: point });
					if (inside) expect(stopped.code, stopped.text).toBe(1);
					else expect(stopped.signal, stopped.text).toBe("SIGKILL");
					return recover(one, command);
				});
			}
			expect(rows.failures).toEqual([]);
			const one = await command.prepare(last);
			const listed = await one.gym(command.args, { GYMFILE_TEST_LIST_POINTS: "1" });
			expect(listed.code, listed.text).toBe(0);
			const passed = [...listed.stderr.matchAll(/^point (\S+)$/gm)].map((match) => match[1]!);
			expect([...new Set(passed)].sort()).toEqual([...command.points].sort());
		},
		400_000,
	);

	it("has all points of the remote scripts", () => {
		const record = {
			gymJobId: "",
			gymVersion: "",
			cluster: "",
			executor: "slurm",
			hostname: null,
			metadata: {},
		};
		const submission = {
			...{ runDir: "/run", benchmarks: [], outputPath: "/", files: new Map(), record, jobs: [] },
			...{ mountSources: [], walltime: null, forward: new Map(), withheld: [] },
		};
		const pointsIn = (text: string) => [...text.matchAll(/^\s*point (\S+)$/gm)].map((match) => match[1]!);
		const marks = pointsIn(cancelScript(["/run/one"], noPoints));
		expect([...new Set(marks)].sort()).toEqual([...CANCEL_POINTS].sort());
		const all = new Set([...pointsIn(submitScript(submission, noPoints)), ...marks]);
		expect([...all].sort()).toEqual([...SUBMIT_POINTS, ...CANCEL_POINTS].sort());
	});

	it.each(["apply", "resume"])("%s loses its connection while sbatch works", async (name) => {
		const command = COMMANDS[name]!;
		const rows = rowsOf(name);
		let last: Project | null = null;
		for (const scriptEnds of [true, false]) {
			const way = `reset, script ${scriptEnds ? "ends first" : "still at work"}`;
			await rows.add("sbatch", way, async () => {
				const one: Project = await command.prepare(last);
				last = one;
				const gate = await gateSbatch(one.outputPath);
				const running = one.gym(command.args);
				await gate.arrived();
				const works = await processWith("--chdir=", one.outputPath);
				await resetConnection(works!);
				const cut = await running;
				expect(cut.code, cut.text).toBe(8);
				expect(cut.text).toContain("exchange-lost");
				const goesOn = async () => {
					if (!scriptEnds) await waitFor(() => processWith("flock", one.outputPath), "the next to wait");
					await gate.open();
				};
				if (!scriptEnds) return (await Promise.all([recover(one, command), goesOn()]))[0];
				await goesOn();
				const [runDir] = await runDirs(one);
				await on("login", "flock", `${runDir}/submit.lock`, "true");
				return recover(one, command);
			});
		}
		expect(rows.failures).toEqual([]);
	});

	it.each(["apply", "resume"])("%s does once what it is asked, whatever sbatch says", async (name) => {
		const command = COMMANDS[name]!;
		const rows = rowsOf(name);
		let last: Project | null = null;
		for (const [way, lines] of Object.entries(STAND_INS)) {
			await rows.add("sbatch", way, async () => {
				const one: Project = await command.prepare(last);
				last = one;
				await wrapSbatch(one.outputPath, lines);
				const result = await one.gym([...command.args, "-json"]);
				expect(result.code, result.text).toBe(0);
				await expectEnd(one, true, result);
				return told(result).did.join(", ");
			});
		}
		expect(rows.failures).toEqual([]);
	});
});
