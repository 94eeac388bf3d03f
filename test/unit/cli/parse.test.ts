/** Command lines: where options stand, and what help and errors say. */
import { expect, test } from "vitest";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { parse } from "../../../src/cli/parse.ts";

const optionsOf = (...argv: string[]) => {
	const asked = parse(argv, COMMANDS, 100);
	return "help" in asked ? asked : asked.options;
};

test.each([
	[["-chdir=a", "plan"]],
	[["--chdir", "a", "plan"]],
	[["plan", "-chdir=a"]],
	[["plan", "--chdir", "a"]],
])("%j works in a", (argv) => {
	expect(optionsOf(...argv)).toMatchObject({ chdir: "a", offline: undefined });
});

test("any other option stands after the command, and the error says so", () => {
	expect(() => optionsOf("-json", "plan")).toThrow("unknown option '--json'");
	try {
		optionsOf("-json", "plan");
	} catch (error) {
		expect(error).toMatchObject({ problems: [{ remedy: expect.stringContaining("after the command") }] });
	}
});

test.each([
	[["plan", "--nope"], "gym help plan"],
	[["cancel"], "gym help cancel"],
	[["eval", "submit"], "NeMo Gym"],
	[["apply", "-lock-timeout", "x"], "gym help apply"],
])("%j is refused with the way on", (argv, way) => {
	expect(() => parse(argv, COMMANDS, 100)).toThrow(
		expect.objectContaining({
			problems: [expect.objectContaining({ remedy: expect.stringContaining(way) })],
		}),
	);
});

test("no arguments, help and -h are the same help; every command is in it", () => {
	const { help } = parse([], COMMANDS, 100) as { help: string };
	for (const argv of [["help"], ["-h"], ["--help"]]) expect(parse(argv, COMMANDS, 100)).toEqual({ help });
	for (const { name, summary } of COMMANDS) {
		expect(help).toMatch(new RegExp(`^ {2}${name} .*${summary.slice(0, 20)}`, "m"));
	}
});

test.each(COMMANDS)(
	"help of $name has its options, and examples that are commands",
	({ name, options, examples }) => {
		const { help } = parse([name, "--help"], COMMANDS, 100) as { help: string };
		expect(parse(["help", name], COMMANDS, 100)).toEqual({ help });
		for (const option of options) expect(help).toContain(`--${option.name}`);
		expect(help.split("\n").filter((line) => line.length > 100)).toEqual([]);
		for (const [line] of examples ?? []) {
			const words = line.replace(/ > .*/, "").replaceAll("'", "").split(" ").slice(1);
			expect(parse(words, COMMANDS, 100)).toMatchObject({ command: { name } });
		}
	},
);
