/**
 * A process of its own that submits: `submitter.js CONTEXT`, a JSON object on stdin. It prints `ready`, begins when a
 * line comes in, and prints the outcome. It kills itself when it has reached the point `killAt` for the `nth` time.
 */
import { createInterface } from "node:readline";
import { localScheduler } from "../../../src/cluster/local/scheduler.ts";
import type { StagedFile, Submission } from "../../../src/cluster/scheduler.ts";
import { thisHost } from "../../../state/backends/host.ts";

/** What the process is told. */
export interface SubmitterOrder {
	/** `math` unless told otherwise. */
	readonly stack?: string;
	readonly outputPath: string;
	readonly supervisor: string;
	readonly runDir: string;
	/** Text of each benchmark's script. */
	readonly scripts: Readonly<Record<string, string>>;
	readonly killAt: string | null;
	readonly nth: number;
}

/** A submission of these scripts. */
export function submissionOf(
	order: Pick<SubmitterOrder, "stack" | "outputPath" | "runDir" | "scripts">,
): Submission {
	const { stack = "math", runDir, outputPath, scripts } = order;
	return {
		stack,
		runDir,
		outputPath,
		benchmarks: Object.keys(scripts),
		files: new Map([["resolved-config.yaml", { text: "job: {}\n", mode: 0o644 }]]),
		record: {
			gymJobId: "run",
			gymVersion: "0.7.0",
			cluster: "here",
			executor: "local",
			hostname: null,
			metadata: { gymfile_stack: stack },
		},
		jobs: Object.entries(scripts).map(([benchmark, text]) => ({
			benchmark,
			jobDir: `${runDir}/${benchmark}`,
			files: new Map<string, StagedFile>([
				["job.sh", { text, mode: 0o600 }],
				["control", { text: "", mode: 0o600 }],
				[".env", { text: "TOKEN='secret'\n", mode: 0o600 }],
			]),
			knownIds: [],
			previous: null,
			resetCounters: false,
			replaces: [],
		})),
		knownDirs: [],
		mountSources: [],
		withheld: [],
		walltime: null,
		forward: new Map(),
	};
}

if (process.argv[2] === "run") {
	const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
	const order = JSON.parse((await lines.next()).value as string) as SubmitterOrder;
	let left = order.nth;
	const reach = async (name: string) => {
		if (name === order.killAt && --left === 0) process.kill(process.pid, "SIGKILL");
	};
	console.log("ready");
	await lines.next();
	const scheduler = localScheduler({
		...order,
		host: thisHost(),
		points: { reach },
		env: process.env,
		now: () => new Date(),
	});
	const { jobs } = await scheduler.submit(submissionOf(order));
	console.log(JSON.stringify(jobs.map((job) => job.jobId)));
	process.exit(0);
}
