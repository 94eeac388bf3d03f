/** One typed table of options; parser and help are made from it. One and two dashes both work. */
import type { Choice } from "../engine.ts";
import { fail } from "../errors.ts";
import { addressMatcher } from "../plan/address-match.ts";

/** An option of a command. */
export interface OptionSpec {
	/** Long name without dashes. */
	readonly name: string;
	readonly short?: string;
	/** Name of the value in help; without it the option is a switch. */
	readonly value?: string;
	/** May be given more than once; the values are collected. */
	readonly repeat?: boolean;
	readonly choices?: readonly string[];
	readonly help: string;
	/** Heading that help lists it under; default `Options:`. */
	readonly group?: string;
}

const SOURCE = "Where the stacks are:";
const OUTPUT = "Output:";

/** The one option that may also stand before the command. */
export const CHDIR = {
	name: "chdir",
	value: "DIR",
	help: "work in DIR",
	group: SOURCE,
} as const satisfies OptionSpec;

/** Options of every command that reads a gymfile or a submit document. */
export const SOURCE_OPTIONS = [
	CHDIR,
	{
		name: "file",
		short: "f",
		value: "FILE",
		help: "a submit document (YAML) instead of gymfile.ts",
		group: SOURCE,
	},
	{ name: "gymfile", value: "FILE", help: "another gymfile than ./gymfile.ts", group: SOURCE },
	{
		name: "stack",
		value: "NAME",
		help: "name of the stack of a submit document (default: its file name)",
		group: SOURCE,
	},
	{
		name: "context",
		short: "c",
		value: "KEY=VALUE",
		repeat: true,
		help: "context that the gymfile reads; may be given more than once",
		group: SOURCE,
	},
] as const satisfies readonly OptionSpec[];

/** Options of every command. */
export const OUTPUT_OPTIONS = [
	{ name: "json", help: "events or data as JSON on stdout", group: OUTPUT },
	{
		name: "color",
		value: "WHEN",
		choices: ["auto", "always", "never"],
		help: "colours (default auto: on a terminal)",
		group: OUTPUT,
	},
	{ name: "no-color", help: "no colours (NO_COLOR does the same)", group: OUTPUT },
	{ name: "debug", help: "stack traces with errors", group: OUTPUT },
] as const satisfies readonly OptionSpec[];

/** Options of commands that look at the cluster. */
export const REFRESH_OPTIONS = [
	{ name: "offline", help: "do not contact the cluster; a missing host: variable is a note" },
	{
		name: "refresh",
		value: "BOOL",
		choices: ["true", "false"],
		help: "look at the cluster first (default true)",
	},
] as const satisfies readonly OptionSpec[];

/** Options of commands that write the state. */
export const LOCK_OPTIONS = [
	{ name: "lock-timeout", value: "SECONDS", help: "wait this long for the lock (default 0)" },
] as const satisfies readonly OptionSpec[];

/** Options of commands that can wait for the runs. */
export const WAIT_OPTIONS = [
	{ name: "wait", help: "then wait until the runs have ended; exit 0 when all succeeded, else 1" },
	{ name: "wait-timeout", value: "SECONDS", help: "wait at most this long; exit 9 when runs are live then" },
] as const satisfies readonly OptionSpec[];

/** Options that choose addresses. */
export const CHOICE_OPTIONS = [
	{
		name: "target",
		value: "ADDRESS",
		repeat: true,
		help: "only this one (globs work); may be given more than once",
	},
	{
		name: "exclude",
		value: "ADDRESS",
		repeat: true,
		help: "not this one (globs work); may be given more than once",
	},
	{
		name: "replace",
		value: "ADDRESS",
		repeat: true,
		help: "submit this one again although nothing changed (globs work)",
	},
] as const satisfies readonly OptionSpec[];

/**
 * What the choice options say. That a pattern names a benchmark is checked with its stack's plan; here, that it is
 * about one of the stacks at all.
 * @param stacks names of the stacks that the command works on
 * @throws GymError exit `invalid`, code `address-unknown`
 */
export function choiceOf(parsed: Parsed, stacks: readonly string[]): Choice {
	const of = (name: "replace" | "target" | "exclude") => {
		const patterns = listOption(parsed, name);
		const stray = patterns.find((pattern) => {
			const stack = pattern.split("/")[0]!;
			return !stack.includes("*") && !stacks.some(addressMatcher([stack]));
		});
		if (stray === undefined) return patterns;
		const remedy = `addresses are STACK/BENCHMARK; stacks: ${stacks.join(", ")}`;
		throw fail("invalid", "address-unknown", `-${name} ${stray} is about none of the stacks`, remedy);
	};
	return {
		replace: of("replace"),
		target: of("target"),
		exclude: of("exclude"),
		resume: [],
		resetCounters: false,
	};
}

/** Options of commands that act. */
export const APPROVE_OPTIONS = [
	{ name: "auto-approve", help: "do not ask" },
] as const satisfies readonly OptionSpec[];

/** What a command line said: switches are booleans, repeated options lists. */
export type Parsed = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** Text of an option that was given, else undefined. */
export function textOption(parsed: Parsed, name: string): string | undefined {
	const value = parsed[name];
	return typeof value === "string" ? value : undefined;
}

/** All values of an option that may be repeated. */
export function listOption(parsed: Parsed, name: string): readonly string[] {
	const value = parsed[name];
	return Array.isArray(value) ? value : [];
}
