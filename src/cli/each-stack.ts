/** Commands work on all stacks by default; one that fails stops only itself. */
import { EXIT, GymError } from "../errors.ts";
import type { Session } from "./session.ts";
import { showError } from "./show-error.ts";

/** Runs `work` for each stack. @returns the first failure's exit code, else the highest code that `work` returned */
export async function forEachStack<Named extends { readonly name: string }>(
	stacks: readonly Named[],
	session: Session,
	work: (stack: Named) => Promise<number>,
): Promise<number> {
	let failure: number | null = null;
	let code: number = EXIT.ok;
	for (const stack of stacks) {
		try {
			code = Math.max(code, await work(stack));
		} catch (error) {
			if (stacks.length === 1 || (GymError.is(error) && error.exit === "interrupted")) throw error;
			session.err(`\nstack ${stack.name}:\n`);
			failure ??= showError(error, session);
		}
	}
	return failure ?? code;
}
