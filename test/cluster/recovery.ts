/** Commands that change jobs, how each is begun, and what must hold once it was stopped and run again. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { as, on } from "../setup/cluster.ts";
import { CANCEL_POINTS, exchange, locked, SUBMIT_POINTS, write } from "../setup/points.ts";
import { type GymResult, labDocument, type Project, project } from "./gym.ts";
import { liveJobs, runDirs, settled } from "./runs.ts";
import { stubFolder } from "./stub-folder.ts";

const SLEEP = { command: "sleep 300" };
const BENCHMARKS = { gsm8k: SLEEP, aime: SLEEP };
const NAMES = Object.keys(BENCHMARKS).sort();
const FLAGS = ["-f", "lab.yaml", "--auto-approve"];
const APPLY = ["apply", ...FLAGS];

const SUBMITTING = [...write("intent"), ...exchange("submit"), ...write("submitted")];
const CANCELLING = locked(...exchange("observe"), ...exchange("cancel"), ...write("cancelled"));
const ADOPTING = locked(...exchange("observe"), ...exchange("find"), ...write("adopted"));

/** A command that can be stopped. */
export interface Command {
	/** Its arguments in a project that is prepared. */
	readonly args: (one: Project) => Promise<readonly string[]>;
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
	// Without a service or a GPU: the jobs of all projects fit on the nodes, and are no load.
	const compute = { node_pools: { cpu: { partition: "batch" } } };
	const document = labDocument({ outputPath: one.outputPath, benchmarks, compute });
	await one.write({ ...document, services: {}, driver: { benchmarks } });
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

/** Runs that are live, and of which the state knows nothing. */
async function lost(last: Project | null): Promise<Project> {
	const one = last ?? (await applied());
	await rm(join(one.folder, ".gym"), { recursive: true });
	return one;
}

/** All that change jobs or what is known of them, by the name that the table shows. */
export const COMMANDS = {
	apply: {
		args: async () => APPLY,
		points: locked(...exchange("observe"), ...exchange("find"), ...SUBMITTING),
		remote: SUBMIT_POINTS,
		live: true,
		prepare: () => fresh(),
	},
	cancel: {
		args: async () => ["cancel", ...NAMES, ...FLAGS],
		points: CANCELLING,
		remote: CANCEL_POINTS,
		live: false,
		prepare: () => applied(),
	},
	destroy: {
		args: async () => ["destroy", "lab", ...FLAGS],
		points: CANCELLING,
		remote: CANCEL_POINTS,
		live: false,
		prepare: () => applied(),
	},
	"apply (=)": {
		args: async () => APPLY,
		points: ADOPTING,
		remote: [],
		live: true,
		prepare: lost,
	},
	"adopt DIR": {
		args: async (one) => ["adopt", ...(await runDirs(one)), "-f", "lab.yaml"],
		points: ADOPTING,
		remote: [],
		live: true,
		prepare: lost,
	},
	resume: {
		args: async () => ["resume", ...NAMES, ...FLAGS],
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
} as const satisfies Readonly<Record<string, Command>>;

/** What a command told with `-json`: the actions of its plan, and what it did. */
export function told({ stdout }: GymResult): {
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

/** Runs the command again; after it, apply must have nothing to do. @returns what happened, for the table */
export async function recover(one: Project, { args, live }: Command): Promise<string> {
	const again = await one.gym([...(await args(one)), "-json"]);
	// A resume that had all done is refused: its run is live.
	const refused = again.code === 4 && again.text.includes("not-resumable");
	if (!refused) expect(again.code, again.text).toBe(0);
	const did = refused ? ["nothing to resume", ...told(await apply(one)).did] : told(again).did;
	await expectEnd(one, live, again);
	return [...new Set(did)].join(", ") || "all was done already";
}

/** One job of each benchmark and none held, or no job; the state says so, and apply has nothing to do. */
export async function expectEnd(one: Project, live: boolean, after: GymResult): Promise<void> {
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

/** The table of what was tried. */
export interface Rows {
	/** Why rows failed. */
	readonly failures: readonly string[];
	/** Adds a row; one that fails is one too, and the next ones are still tried. */
	add(point: string, way: string, work: () => Promise<string>): Promise<void>;
}

/** Rows of one command, added to a table that is printed in the end. */
export function rowsOf(command: string, table: string[]): Rows {
	const failures: string[] = [];
	return {
		failures,
		async add(point, way, work) {
			const start = [command.padEnd(9), point.padEnd(24), way.padEnd(32)].join(" ");
			const row = table.push(start) - 1;
			const outcome = await work().catch((error: Error) => {
				failures.push(`${start} ${error.message}`);
				return "FAILED";
			});
			table[row] = `${start} ${outcome}`;
		},
	};
}
