/** Command line → command, arguments and options, by commander from the options table. */
import { type Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { fail, type GymError } from "../errors.ts";
import { CHDIR, type OptionSpec, type Parsed } from "./options.ts";

/** A command of the program. `load` brings in its code only when it is asked for. */
export interface CommandSpec<Context> {
	readonly name: string;
	readonly summary: string;
	/** Heading that help lists it under. */
	readonly group: string;
	/** Arguments in commander's notation, e.g. `[stack...]`. */
	readonly args?: string;
	readonly options: readonly OptionSpec[];
	/** Examples: a command line and what it does. */
	readonly examples?: readonly (readonly [line: string, meaning: string])[];
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
	const value = spec.choices?.join("|") ?? spec.value;
	const flags = `${spec.short ? `-${spec.short}, ` : ""}--${spec.name}${value ? ` <${value}>` : ""}`;
	const option = new Option(flags, spec.help);
	if (spec.group) option.helpGroup(spec.group);
	if (spec.choices) option.choices(spec.choices);
	if (spec.repeat) {
		option.argParser((value: string, previous: readonly string[] | undefined) => [
			...(previous ?? []),
			value,
		]);
	}
	if (spec.name.endsWith("-timeout")) {
		option.argParser((value: string) => {
			if (!/^\d+$/.test(value)) throw new InvalidArgumentError("Give whole seconds, e.g. 30");
			return value;
		});
	}
	return option;
}

function camel(name: string): string {
	return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Words of help that differ from commander's own. */
const HELP = {
	// Choices stand in the value's place already.
	optionDescription: (option: Option) => option.description,
	subcommandTerm: (command: Command) => [command.name(), ...command.registeredArguments.map(term)].join(" "),
	commandUsage: (command: Command) =>
		command.parent === null
			? "gym COMMAND [arguments] [options]"
			: ["gym", command.name(), ...command.registeredArguments.map(term), "[options]"].join(" "),
};

function term(argument: Argument): string {
	const name = argument.name().toUpperCase() + (argument.variadic ? "…" : "");
	return argument.required ? name : `[${name}]`;
}

function examplesText(examples: readonly (readonly [string, string])[]): string {
	const width = Math.max(...examples.map(([line]) => line.length));
	return `\nExamples:\n${examples.map(([line, meaning]) => `  ${line.padEnd(width)}  ${meaning}`).join("\n")}`;
}

function sentence(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
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
	const write = (text: string) => {
		output += text;
	};
	const program = new Command("gym")
		.description("Infrastructure as code for LLM evaluation runs on GPU clusters.")
		.option(`--${CHDIR.name} <${CHDIR.value}>`, CHDIR.help)
		.helpOption("-h, --help", "this text")
		.commandsGroup("Other:")
		.helpCommand("help [command]", "help for a command")
		.addHelpText("after", "\nOne and two dashes both work. gym help COMMAND shows its options and examples.")
		.configureHelp({ helpWidth: columns, ...HELP })
		.configureOutput({ writeOut: write, writeErr: write })
		.exitOverride()
		.showSuggestionAfterError();
	for (const spec of commands) {
		const command = program
			.command(spec.args ? `${spec.name} ${spec.args}` : spec.name)
			.summary(spec.summary)
			.description(sentence(spec.summary))
			.helpGroup(spec.group)
			.helpOption("-h, --help", "this text");
		// What only this command has comes first.
		const shared = (option: OptionSpec) => Number(option.group !== undefined);
		for (const option of spec.options.toSorted((a, b) => shared(a) - shared(b))) {
			command.addOption(toOption(option));
		}
		if (spec.examples) command.addHelpText("after", examplesText(spec.examples));
		command.action(() => {
			// `-chdir` may stand before the command too, and then the program has it.
			const raw = { ...command.opts<Record<string, unknown>>(), ...program.opts<Record<string, unknown>>() };
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
		const specs = [CHDIR, ...commands.flatMap((spec) => spec.options)];
		program.parse(twoDashes(argv, specs), { from: "user" });
	} catch (error) {
		if (!(error instanceof CommanderError)) throw error;
		if (error.exitCode === 0 || (argv.length === 0 && error.code === "commander.help"))
			return { help: output };
		throw badFlags(error, argv, commands);
	}
	if (!invocation) return { help: output };
	return invocation;
}

function badFlags(
	error: CommanderError,
	argv: readonly string[],
	commands: readonly { readonly name: string }[],
): GymError {
	// `help NAME` of no command says nothing but this.
	const words = error.code === "commander.help" ? `unknown command '${argv[1]}'` : error.message;
	const message = words
		.replace(/^error: /, "")
		.replace(/\n\(Did you mean (.+?)\?\)/s, "; did you mean $1?")
		.replace(/\.$/, "");
	const [first = ""] = argv;
	const isCommand = commands.some(({ name }) => name === first);
	const remedies: Readonly<Record<string, string>> = {
		"commander.unknownCommand":
			"gym help lists the commands; this is the gym of gymfile, NeMo Gym's gym is another program",
		"commander.unknownOption": isCommand
			? `gym help ${first} lists its options`
			: "options stand after the command; only -chdir may stand before it",
	};
	const remedy = remedies[error.code] ?? (isCommand ? `see gym help ${first}` : "see gym help");
	return fail("invalid", "bad-flags", message, remedy);
}
