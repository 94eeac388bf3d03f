/** Runs one command line: parse, load the command, map whatever happens to an exit code. */
import { EXIT, GymError } from "../errors.ts";
import { watchUserCode } from "../load/user-code.ts";
import { COMMANDS } from "./commands.ts";
import { parse } from "./parse.ts";
import { processSession } from "./session.ts";

/** What came from outside to stop the command. */
interface Stop {
	readonly signal: AbortSignal;
	/** The exit code of the signal; null when none came. */
	readonly exit: () => number | null;
}

/**
 * First Ctrl-C (or TERM): finish the step in hand, record, unlock. A second one stops at once; the next run still
 * finds what exists. A reader that went away (`gym plan | head`) is like a first one, but no failure by itself.
 */
function stopSignal(exitNow: (code: number) => never): Stop {
	const controller = new AbortController();
	let code: number | null = null;
	const on = (exit: number) => () => {
		if (code !== null) exitNow(exit);
		code = exit;
		controller.abort();
	};
	process.on("SIGINT", on(EXIT.interrupted));
	process.on("SIGTERM", on(EXIT.terminated));
	for (const stream of [process.stdout, process.stderr]) {
		stream.on("error", (error: NodeJS.ErrnoException) => {
			if (error.code !== "EPIPE") throw error;
			controller.abort();
		});
	}
	return { signal: controller.signal, exit: () => code };
}

/** Writes to stdout; `done` is called when the text has left this process. */
type Write = (text: string, done?: () => void) => boolean;

/** Waits until all that was written has left this process. */
async function flushed(write: Write): Promise<void> {
	await new Promise<void>((resolve) => write("", resolve));
	await new Promise<void>((resolve) => process.stderr.write("", () => resolve()));
}

/** The real exit, also when something that a gymfile wants done at the exit throws. */
function exitFunction(): (code: number) => never {
	const exit = process.exit.bind(process);
	return (code) => {
		try {
			return exit(code);
		} catch {
			return exit(code);
		}
	};
}

/** @returns the exit code */
async function runCommand(argv: readonly string[], stop: Stop, write: Write): Promise<number> {
	let broken: (error: unknown) => void = () => undefined;
	const bug = new Promise<never>((_, reject) => {
		broken = reject;
	});
	const userCode = watchUserCode({ signal: stop.signal, bug: (error) => broken(error) });
	const parts = { signal: stop.signal, userCode, out: (text: string) => void write(text) };
	// Until the command line is parsed, only these two options count.
	const given = (name: string) => argv.some((arg) => arg === `-${name}` || arg === `--${name}`);
	const options = { json: given("json"), debug: given("debug") };
	let session = processSession({ ...parts, args: [], options });
	try {
		const asked = parse(argv, COMMANDS, process.stdout.columns ?? 100);
		if ("help" in asked) {
			session.out(asked.help);
			return EXIT.ok;
		}
		session = processSession({ ...parts, args: asked.args, options: asked.options });
		const { run } = await asked.command.load();
		const code = await Promise.race([run(session), bug]);
		const late = userCode.late().flatMap(({ problems }) => problems);
		if (late.length > 0) throw new GymError("invalid", late);
		return stop.exit() ?? code;
	} catch (error) {
		const { showError } = await import("./show-error.ts");
		const code = showError(error, session);
		return GymError.is(error) && error.exit === "interrupted" ? (stop.exit() ?? code) : code;
	}
}

/** Runs a command line, and ends this process with its exit code, whatever a gymfile left at work in it. */
export async function main(argv: readonly string[]): Promise<never> {
	const exit = exitFunction();
	const write: Write = process.stdout.write.bind(process.stdout);
	const code = await runCommand(argv, stopSignal(exit), write);
	await flushed(write);
	return exit(code);
}
