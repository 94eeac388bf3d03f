/** `gym destroy`: cancels every live job of the stacks; artifacts and history are kept. */
import { isLive } from "../../../state/document.ts";
import { cancelRuns } from "../../apply/cancel.ts";
import { EXIT, fail } from "../../errors.ts";
import { requireConsent } from "../consent.ts";
import { textOption } from "../options.ts";
import { withIo } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot, stateStacks } from "../state-stacks.ts";
import { cancelOutcome } from "../views/apply.ts";
import { plural } from "../views/words.ts";

export async function run(session: Session): Promise<number> {
	requireConsent(session);
	const view = session.view();
	return withIo(session, stateRoot(session), async (io) => {
		let left = false;
		for (const stack of await stateStacks(io.store, session.args)) {
			const state = await io.store.read(stack);
			const live = [...(state?.benchmarks ?? [])].filter(([, { current, history }]) =>
				[current, ...history].some((run) => run && isLive(run.status)),
			);
			if (live.length === 0) {
				session.err(`Nothing of ${stack} is live.\n`);
				continue;
			}
			const count = String(live.length);
			const question = `Cancel ${plural(live.length, "benchmark")} of ${stack}: ${live.map(([name]) => name).join(", ")}?  Only the number ${count} is accepted: `;
			if (session.options["auto-approve"] !== true && (await session.ask(question))?.trim() !== count) {
				throw fail("declined", "declined", "not destroyed; nothing was changed");
			}
			await cancelRuns(stack, io, {
				benchmarks: live.map(([name]) => name),
				lockTimeout: Number(textOption(session.options, "lock-timeout") ?? 0),
				cancelled(address, ids, stillThere) {
					left ||= stillThere;
					view.applyOutcomes([cancelOutcome(address, ids, stillThere)]);
				},
			});
		}
		return left ? EXIT.failure : EXIT.ok;
	});
}
