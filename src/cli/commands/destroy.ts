/** `gym destroy`: cancels every live job of the stacks; artifacts and history are kept. */
import { isLive } from "../../../state/document.ts";
import { cancelRuns } from "../../apply/cancel.ts";
import { EXIT } from "../../errors.ts";
import type { Io } from "../../io.ts";
import { notApproved, requireConsent } from "../consent.ts";
import { forEachStack } from "../each-stack.ts";
import { textOption } from "../options.ts";
import { withIo } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot, stateStacks } from "../state-stacks.ts";
import { cancelOutcome } from "../views/apply.ts";
import { plural } from "../views/words.ts";

export async function run(session: Session): Promise<number> {
	requireConsent(session);
	return withIo(session, await stateRoot(session), async (io) => {
		const names = await stateStacks(io.store, session.args);
		return forEachStack(
			names.map((name) => ({ name })),
			session,
			({ name }) => destroyStack(name, io, session),
		);
	});
}

/** @returns the exit code: `failure` when jobs were still listed at the end */
async function destroyStack(stack: string, io: Io, session: Session): Promise<number> {
	const view = session.view();
	const state = await io.store.read(stack);
	const live = [...(state?.benchmarks ?? [])].filter(([, { current, history }]) =>
		[current, ...history].some((run) => run && isLive(run.status)),
	);
	if (live.length === 0) {
		session.err(`Nothing of ${stack} is live.\n`);
		return EXIT.ok;
	}
	const count = String(live.length);
	const question = `Cancel ${plural(live.length, "benchmark")} of ${stack}: ${live.map(([name]) => name).join(", ")}?  Only the number ${count} is accepted: `;
	if (session.options["auto-approve"] !== true && (await session.ask(question))?.trim() !== count) {
		throw notApproved(session, "not destroyed");
	}
	const addresses = live.map(([name]) => `${stack}/${name}`);
	let left = false;
	await cancelRuns(stack, io, {
		benchmarks: live.map(([name]) => name),
		lockTimeout: Number(textOption(session.options, "lock-timeout") ?? 0),
		cancelled(address, ids, stillThere) {
			left ||= stillThere;
			view.applyOutcomes([cancelOutcome(address, ids, stillThere)], addresses);
		},
	});
	return left ? EXIT.failure : EXIT.ok;
}
