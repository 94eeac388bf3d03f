/** Shows what made a command stop, and maps it to the exit code. */
import { EXIT, GymError, type Problem } from "../errors.ts";
import type { Session } from "./session.ts";

/** @returns the exit code */
export function showError(error: unknown, session: Session): number {
	const known = GymError.is(error) ? error : null;
	const problems: readonly Problem[] = known?.problems ?? [
		{
			code: "internal",
			severity: "error",
			at: "",
			message: `this is a bug in gymfile: ${error instanceof Error ? error.message : String(error)}`,
			remedy: "run the command again with --debug and report what it prints",
		},
	];
	const exit = known?.exit ?? "bug";
	session.view().problems({
		problems,
		exit,
		aftermath: session.contacted() ? "unknown" : "not-contacted",
	});
	if (session.options.debug === true && error instanceof Error) {
		session.err(`${error.stack}\n${error.cause instanceof Error ? `caused by ${error.cause.stack}\n` : ""}`);
	}
	return EXIT[exit];
}
