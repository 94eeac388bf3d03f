/** `gym apply`: plan, ask, submit, record. */
import { requireConsent } from "../consent.ts";
import { converse } from "../conversation.ts";
import { forEachStack } from "../each-stack.ts";
import { choiceOf } from "../options.ts";
import { withIo } from "../process-io.ts";
import { loadValid, type Session } from "../session.ts";

export async function run(session: Session): Promise<number> {
	requireConsent(session);
	const { root, stacks } = await loadValid(session, session.args);
	const choice = choiceOf(
		session.options,
		stacks.map(({ name }) => name),
	);
	return withIo(session, root, (io) =>
		forEachStack(stacks, session, (stack) => converse(session, stack, io, choice)),
	);
}
