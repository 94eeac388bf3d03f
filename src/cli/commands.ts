/** The commands: names, options, and where their code is. Nothing here loads a command before it is asked for. */
import {
	APPROVE_OPTIONS,
	CHOICE_OPTIONS,
	LOCK_OPTIONS,
	OUTPUT_OPTIONS,
	REFRESH_OPTIONS,
	SOURCE_OPTIONS,
} from "./options.ts";
import type { CommandSpec } from "./parse.ts";
import type { Session } from "./session.ts";

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
		args: "[stack...]",
		options: [...SOURCE_OPTIONS, ...OUTPUT_OPTIONS, REFRESH_OPTIONS[0]],
		load: () => import("./commands/validate.ts"),
	},
	{
		name: "synth",
		summary: "print the submit document (YAML) of a stack",
		args: "[stack...]",
		options: [
			...SOURCE_OPTIONS,
			...OUTPUT_OPTIONS,
			{ name: "output", short: "o", value: "DIR", help: "write <stack>.yaml into DIR, one for each stack" },
		],
		load: () => import("./commands/synth.ts"),
	},
	{
		name: "plan",
		summary: "show what apply would do, and why",
		args: "[stack...]",
		options: [
			...SOURCE_OPTIONS,
			...REFRESH_OPTIONS,
			...CHOICE_OPTIONS,
			SHOW_JOB,
			{ name: "detailed-exitcode", help: "exit 2 when there are changes" },
			...OUTPUT_OPTIONS,
		],
		load: () => import("./commands/plan.ts"),
	},
	{
		name: "apply",
		summary: "plan, ask, submit, and record",
		args: "[stack...]",
		options: [
			...SOURCE_OPTIONS,
			...CHOICE_OPTIONS,
			SHOW_JOB,
			...LOCK_OPTIONS,
			...APPROVE_OPTIONS,
			...OUTPUT_OPTIONS,
		],
		load: () => import("./commands/apply.ts"),
	},
	{
		name: "status",
		summary: "what runs, how far it is, and its reward so far",
		args: "[stack...]",
		options: [...SOURCE_OPTIONS, ...REFRESH_OPTIONS, ...OUTPUT_OPTIONS],
		load: () => import("./commands/status.ts"),
	},
	{
		name: "logs",
		summary: "print the logs of a benchmark's job",
		args: "<address>",
		options: [
			...SOURCE_OPTIONS,
			{ name: "follow", help: "go on printing until the job has ended" },
			{ name: "tail", short: "n", value: "LINES", help: "how many lines from the end (default 50)" },
			{ name: "source", value: "NAME", help: "only this one: driver, or the name of a service" },
			...OUTPUT_OPTIONS,
		],
		load: () => import("./commands/logs.ts"),
	},
	{
		name: "cancel",
		summary: "cancel a benchmark's job; artifacts are kept",
		args: "<address...>",
		options: [...SOURCE_OPTIONS, ...LOCK_OPTIONS, ...APPROVE_OPTIONS, ...OUTPUT_OPTIONS],
		load: () => import("./commands/cancel.ts"),
	},
	{
		name: "resume",
		summary: "go on with a run that failed or was cancelled, in its run directory",
		args: "<address...>",
		options: [...SOURCE_OPTIONS, SHOW_JOB, ...LOCK_OPTIONS, ...APPROVE_OPTIONS, ...OUTPUT_OPTIONS],
		load: () => import("./commands/resume.ts"),
	},
	{
		name: "adopt",
		summary: "take a run directory into the state, also one of gym eval submit",
		args: "<run-dir>",
		options: [...SOURCE_OPTIONS, ...LOCK_OPTIONS, ...OUTPUT_OPTIONS],
		load: () => import("./commands/adopt.ts"),
	},
	{
		name: "destroy",
		summary: "cancel every live job of the stacks; artifacts and history are kept",
		args: "[stack...]",
		options: [...SOURCE_OPTIONS, ...LOCK_OPTIONS, ...APPROVE_OPTIONS, ...OUTPUT_OPTIONS],
		load: () => import("./commands/destroy.ts"),
	},
	{
		name: "schema",
		summary: "print a JSON Schema: submit (the document), events (-json)",
		args: "<what>",
		options: [...OUTPUT_OPTIONS],
		load: () => import("./commands/schema.ts"),
	},
	{
		name: "state",
		summary: "the state: list | show STACK or ADDRESS | rm ADDRESS | unlock STACK ID",
		args: "<action> [args...]",
		options: [...SOURCE_OPTIONS, ...OUTPUT_OPTIONS],
		load: () => import("./commands/state.ts"),
	},
	{
		name: "version",
		summary: "print the version",
		options: [...OUTPUT_OPTIONS],
		load: () => import("./commands/version.ts"),
	},
];
