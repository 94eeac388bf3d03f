/** Commands about what was submitted work from the state alone: a broken gymfile must not keep anyone from cancelling. */
import { resolve } from "node:path";
import type { StateStore } from "../../state/store.ts";
import { fail } from "../errors.ts";
import { projectRoot } from "../load/project-root.ts";
import { addressMatcher } from "../plan/address-match.ts";
import { textOption } from "./options.ts";
import type { Session } from "./session.ts";

/** The folder beside which `.gym` lies: that of the gymfile or submit document. */
export function stateRoot(session: Session): Promise<string> {
	const file = textOption(session.options, "file") ?? textOption(session.options, "gymfile") ?? "gymfile.ts";
	return projectRoot(resolve(session.directory, file));
}

/**
 * The stacks that have a state, or those of them that are named (globs work).
 * @throws GymError exit `invalid`, code `stack-unknown`
 */
export async function stateStacks(store: StateStore, names: readonly string[]): Promise<readonly string[]> {
	const known = await store.stacks();
	const unknown = names.filter((name) => !known.some(addressMatcher([name])));
	if (unknown.length > 0) {
		const address = unknown.some((name) => name.includes("/"));
		const hint = address ? "; gym cancel takes addresses" : "";
		const remedy =
			known.length > 0 ? `stacks with a state: ${known.join(", ")}${hint}` : "nothing was applied here yet";
		throw fail("invalid", "stack-unknown", `no state of a stack ${unknown.join(", ")}`, remedy);
	}
	return names.length > 0 ? known.filter(addressMatcher(names)) : known;
}
