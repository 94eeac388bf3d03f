/** The commands: names, options, and where their code is. Nothing here loads a command before it is asked for. */
import {
	APPROVE_OPTIONS,
	CHOICE_OPTIONS,
	LOCK_OPTIONS,
	OUTPUT_OPTIONS,
	REFRESH_OPTIONS,
	SOURCE_OPTIONS,
	WAIT_OPTIONS,
} from "./options.ts";
import type { CommandSpec } from "./parse.ts";
import type { Session } from "./session.ts";

const WRITE = "Write and check:";
const RUN = "Run:";
const LOOK = "Look:";

const SHOW_JOB = {
	name: "show-job",
	value: "HOW",
	choices: ["full", "fold", "none"],
	help: "changes of job.sh: whole, folded beyond 40 lines (default), or not at all",
} as const;

/** Every command, in the order of help. */
export const COMMANDS: readonly CommandSpec<Session>[] = [
	{
		name: "validate",
		summary: "check the gymfile against every rule, without contacting anything",
		group: WRITE,
		args: "[stack...]",
		options: [...SOURCE_OPTIONS, ...OUTPUT_OPTIONS, REFRESH_OPTIONS[0]],
		load: () => import("./commands/validate.ts"),
	},
	{
		name: "synth",
		summary: "print the submit document (YAML) of a stack",
		group: WRITE,
		args: "[stack...]",
		options: [
			...SOURCE_OPTIONS,
			...OUTPUT_OPTIONS,
			{ name: "output", short: "o", value: "DIR", help: "write <stack>.yaml into DIR, one for each stack" },
		],
		examples: [
			["gym synth math > math.yaml", "what gym eval submit of NeMo Gym takes"],
			["gym synth -o out", "one file for each stack"],
		],
		load: () => import("./commands/synth.ts"),
	},
	{
		name: "plan",
		summary: "show what apply would do, and why",
		group: RUN,
		args: "[stack...]",
		options: [
			...SOURCE_OPTIONS,
			...REFRESH_OPTIONS,
			...CHOICE_OPTIONS,
			SHOW_JOB,
			{ name: "detailed-exitcode", help: "exit 2 when there are changes" },
			...OUTPUT_OPTIONS,
		],
		examples: [
			["gym plan", "all stacks of ./gymfile.ts"],
			["gym plan math -target='math/gsm*'", "some benchmarks of one stack"],
			["gym plan -offline", "without a cluster, for CI"],
			["gym plan -f math.yaml", "a submit document"],
		],
		load: () => import("./commands/plan.ts"),
	},
	{
		name: "apply",
		summary: "plan, ask, submit, and record",
		group: RUN,
		args: "[stack...]",
		options: [
			...SOURCE_OPTIONS,
			...CHOICE_OPTIONS,
			SHOW_JOB,
			...LOCK_OPTIONS,
			...APPROVE_OPTIONS,
			...WAIT_OPTIONS,
			...OUTPUT_OPTIONS,
		],
		examples: [
			["gym apply", "plan all stacks, ask, submit"],
			["gym apply math --auto-approve", "one stack, without a question"],
			["gym apply -replace=math/aime", "submit one again although nothing changed"],
			[
				"gym apply --auto-approve -wait",
				"go on looking until the runs have ended; exit 0 when all succeeded",
			],
		],
		load: () => import("./commands/apply.ts"),
	},
	{
		name: "status",
		summary: "what runs, how far it is, and its reward so far",
		group: LOOK,
		args: "[stack-or-address...]",
		options: [...SOURCE_OPTIONS, ...REFRESH_OPTIONS, ...OUTPUT_OPTIONS],
		examples: [
			["gym status", "all that was submitted from here"],
			["gym status math 'code/h*'", "a stack, and some addresses of another"],
		],
		load: () => import("./commands/status.ts"),
	},
	{
		name: "why",
		summary: "the story of a run: each of its jobs, what was decided after it, and what can be done",
		group: LOOK,
		args: "<address...>",
		options: [...SOURCE_OPTIONS, ...REFRESH_OPTIONS, ...OUTPUT_OPTIONS],
		examples: [["gym why math/aime", "why it stopped, or what it waits for"]],
		load: () => import("./commands/why.ts"),
	},
	{
		name: "logs",
		summary: "print the logs of benchmarks' jobs",
		group: LOOK,
		args: "<address...>",
		options: [
			...SOURCE_OPTIONS,
			{ name: "follow", help: "go on printing until the job has ended" },
			{ name: "tail", short: "n", value: "LINES", help: "how many lines from the end (default 50)" },
			{ name: "source", value: "NAME", help: "only this one: driver, or the name of a service" },
			...OUTPUT_OPTIONS,
		],
		examples: [
			["gym logs math/aime -follow", "until its job has ended"],
			["gym logs 'math/*' --source driver -n 5", "the driver's last lines of all benchmarks"],
		],
		load: () => import("./commands/logs.ts"),
	},
	{
		name: "cancel",
		summary: "cancel benchmarks' jobs; artifacts are kept",
		group: RUN,
		args: "<address...>",
		options: [...SOURCE_OPTIONS, ...LOCK_OPTIONS, ...APPROVE_OPTIONS, ...OUTPUT_OPTIONS],
		examples: [
			["gym cancel math/aime", "one benchmark"],
			["gym cancel 'math/*' --auto-approve", "all of a stack, without a question"],
		],
		load: () => import("./commands/cancel.ts"),
	},
	{
		name: "resume",
		summary: "go on with runs that failed or were cancelled, in their run directories",
		group: RUN,
		args: "<address...>",
		options: [
			...SOURCE_OPTIONS,
			{ name: "reset-counters", help: "forget the retries and the walltime that its chain has used up" },
			SHOW_JOB,
			...LOCK_OPTIONS,
			...APPROVE_OPTIONS,
			...OUTPUT_OPTIONS,
		],
		examples: [
			["gym resume math/aime", "go on in its run directory"],
			["gym resume math/aime --reset-counters", "although its retries or its walltime are used up"],
			["gym resume 'math/a*'", "several; all of them must wait for a decision"],
		],
		load: () => import("./commands/resume.ts"),
	},
	{
		name: "adopt",
		summary: "take a run directory into the state, also one of gym eval submit",
		group: RUN,
		args: "<run-dir>",
		options: [...SOURCE_OPTIONS, ...LOCK_OPTIONS, ...OUTPUT_OPTIONS],
		examples: [["gym adopt /lustre/evals/gym-job-20261130T181708Z-2b7e37", "a run directory on the cluster"]],
		load: () => import("./commands/adopt.ts"),
	},
	{
		name: "destroy",
		summary: "cancel every live job of the stacks; artifacts and history are kept",
		group: RUN,
		args: "[stack...]",
		options: [...SOURCE_OPTIONS, ...LOCK_OPTIONS, ...APPROVE_OPTIONS, ...OUTPUT_OPTIONS],
		examples: [["gym destroy math", "all of one stack; gym cancel takes addresses"]],
		load: () => import("./commands/destroy.ts"),
	},
	{
		name: "schema",
		summary: "print a JSON Schema: submit (the document) or events (-json)",
		group: WRITE,
		args: "<what>",
		options: [...OUTPUT_OPTIONS],
		load: () => import("./commands/schema.ts"),
	},
	{
		name: "state",
		summary: "look into the state, or mend it: list, show, rm, unlock",
		group: LOOK,
		args: "<action> [args...]",
		options: [...SOURCE_OPTIONS, ...OUTPUT_OPTIONS],
		examples: [
			["gym state list", "the addresses"],
			["gym state show math/aime", "its record, as JSON"],
			["gym state rm math/aime", "forget it; jobs and files stay"],
			["gym state unlock math ID", "end a lock whose process is gone"],
		],
		load: () => import("./commands/state.ts"),
	},
	{
		name: "version",
		summary: "print the version",
		group: "Other:",
		options: [...OUTPUT_OPTIONS],
		load: () => import("./commands/version.ts"),
	},
];
