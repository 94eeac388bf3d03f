/** Runs one command line: parse, load the command, map whatever happens to an exit code. */
import { EXIT, GymError } from "../errors.ts";
import { COMMANDS } from "./commands.ts";
import { parse } from "./parse.ts";
import { processSession } from "./session.ts";

/**
 * First Ctrl-C (or TERM): finish the step in hand, record, unlock. A second one stops at once; the next run still
 * finds what exists. A reader that went away (`gym plan | head`) is like a first one, but no failure by itself.
 */
function stopSignal(): { signal: AbortSignal; exit: () => number | null } {
	const controller = new AbortController();
	let code: number | null = null;
	const on = (exit: number) => () => {
		if (code !== null) process.exit(exit);
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

/** @returns the exit code */
export async function main(argv: readonly string[]): Promise<number> {
	const stop = stopSignal();
	// Until the command line is parsed, only these two options count.
	const given = (name: string) => argv.some((arg) => arg === `-${name}` || arg === `--${name}`);
	let session = processSession([], { json: given("json"), debug: given("debug") }, stop.signal);
	try {
		const asked = parse(argv, COMMANDS, process.stdout.columns ?? 100);
		if ("help" in asked) {
			process.stdout.write(asked.help);
			return EXIT.ok;
		}
		session = processSession(asked.args, asked.options, stop.signal);
		const { run } = await asked.command.load();
		const code = await run(session);
		return stop.exit() ?? code;
	} catch (error) {
		const { showError } = await import("./show-error.ts");
		const code = showError(error, session);
		return GymError.is(error) && error.exit === "interrupted" ? (stop.exit() ?? code) : code;
	} finally {
		process.removeAllListeners("SIGINT").removeAllListeners("SIGTERM");
	}
}
