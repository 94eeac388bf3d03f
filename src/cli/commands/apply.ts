/** `gym apply`: plan, ask, submit, record; with `-wait` until the runs have ended. */
import type { Awaited } from "../../apply/wait.ts";
import { EXIT } from "../../errors.ts";
import { requireConsent } from "../consent.ts";
import { converse } from "../conversation.ts";
import { forEachStack } from "../each-stack.ts";
import { choiceOf } from "../options.ts";
import { withIo } from "../process-io.ts";
import { loadValid, type Session } from "../session.ts";
import { awaitRuns, waitTimeout } from "../waiting.ts";

export async function run(session: Session): Promise<number> {
	requireConsent(session);
	const { root, stacks } = await loadValid(session, session.args);
	const choice = choiceOf(
		session.options,
		stacks.map(({ name }) => name),
	);
	const timeout = waitTimeout(session);
	return withIo(session, root, async (io) => {
		const awaited: Awaited[] = [];
		const code = await forEachStack(stacks, session, async (stack) => {
			const applied = await converse(session, stack, io, choice);
			awaited.push(...applied.runs);
			return applied.code;
		});
		if (timeout === undefined || awaited.length === 0) return code;
		const ended = await awaitRuns(session, io, awaited, timeout);
		return code === EXIT.ok ? ended : code;
	});
}
