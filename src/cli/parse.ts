/** Command line → command, arguments and options, by commander from the options table. */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { fail } from "../errors.ts";
import type { OptionSpec, Parsed } from "./options.ts";

/** A command of the program. `load` brings in its code only when it is asked for. */
export interface CommandSpec<Context> {
	readonly name: string;
	readonly summary: string;
	/** Arguments in commander's notation, e.g. `[stack...]`. */
	readonly args?: string;
	readonly options: readonly OptionSpec[];
	/** More help: examples, exit codes. */
	readonly details?: string;
	readonly load: () => Promise<{ readonly run: (context: Context) => Promise<number> }>;
}

/** What was asked for. */
export interface Invocation<Context> {
	readonly command: CommandSpec<Context>;
	readonly args: readonly string[];
	readonly options: Parsed;
}

/** `-json` and `--json` are the same; single letters stay what they are. */
function twoDashes(argv: readonly string[], specs: readonly OptionSpec[]): string[] {
	const names = new Set(["help", "version", ...specs.map((spec) => spec.name)]);
	let literal = false;
	return argv.map((arg) => {
		literal ||= arg === "--";
		const match = literal ? null : /^-([a-z][a-z-]+)(=.*)?$/s.exec(arg);
		return match && names.has(match[1]!) ? `-${arg}` : arg;
	});
}

function toOption(spec: OptionSpec): Option {
	const flags = `${spec.short ? `-${spec.short}, ` : ""}--${spec.name}${spec.value ? ` <${spec.value}>` : ""}`;
	const option = new Option(flags, spec.help);
	if (spec.choices) option.choices(spec.choices);
	if (spec.repeat) {
		option.argParser((value: string, previous: readonly string[] | undefined) => [
			...(previous ?? []),
			value,
		]);
	}
	if (spec.name === "lock-timeout") {
		option.argParser((value: string) => {
			if (!/^\d+$/.test(value)) throw new InvalidArgumentError("give whole seconds, e.g. 30.");
			return value;
		});
	}
	return option;
}

function camel(name: string): string {
	return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Parses a command line.
 * @returns what to run, or the text to print (help)
 * @throws GymError exit `invalid`, code `bad-flags`
 */
export function parse<Context>(
	argv: readonly string[],
	commands: readonly CommandSpec<Context>[],
	columns: number,
): Invocation<Context> | { readonly help: string } {
	let invocation: Invocation<Context> | null = null;
	let output = "";
	const program = new Command("gym")
		.description("Infrastructure as code for LLM evaluation runs on GPU clusters.")
		.helpCommand("help [command]", "help for a command")
		.configureHelp({ helpWidth: columns })
		.configureOutput({ writeOut: (text) => (output += text), writeErr: (text) => (output += text) })
		.exitOverride()
		.showSuggestionAfterError();
	for (const spec of commands) {
		const command = program
			.command(spec.args ? `${spec.name} ${spec.args}` : spec.name)
			.description(spec.summary)
			.exitOverride()
			.configureOutput({ writeOut: (text) => (output += text), writeErr: (text) => (output += text) });
		for (const option of spec.options) command.addOption(toOption(option));
		if (spec.details) command.addHelpText("after", `\n${spec.details}`);
		command.action(() => {
			const raw = command.opts<Record<string, unknown>>();
			const options = Object.fromEntries(
				spec.options.map((option) => {
					// commander reads `--no-x` as "x is false".
					if (option.name.startsWith("no-")) return [option.name, raw[camel(option.name.slice(3))] === false];
					return [option.name, raw[camel(option.name)]];
				}),
			) as Parsed;
			invocation = { command: spec, args: command.args, options };
		});
	}
	try {
		const specs = commands.flatMap((spec) => spec.options);
		program.parse(twoDashes(argv, specs), { from: "user" });
	} catch (error) {
		if (!(error instanceof CommanderError)) throw error;
		if (error.exitCode === 0 || (argv.length === 0 && error.code === "commander.help"))
			return { help: output };
		// `help NAME` of no command says nothing but this.
		const words = error.code === "commander.help" ? `unknown command '${argv[1]}'` : error.message;
		const message = words
			.replace(/^error: /, "")
			.replace(/\n\(Did you mean (.+?)\?\)/s, "; did you mean $1?");
		throw fail("invalid", "bad-flags", message, "see gym help");
	}
	if (!invocation) return { help: output };
	return invocation;
}
