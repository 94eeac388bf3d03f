/** `gym cancel`: ends a benchmark's jobs; artifacts, logs and history are kept. */
import { cancelRuns } from "../../apply/cancel.ts";
import { EXIT } from "../../errors.ts";
import { findRuns } from "../address.ts";
import { notApproved, requireConsent } from "../consent.ts";
import { textOption } from "../options.ts";
import { withIo } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot } from "../state-stacks.ts";
import { cancelOutcome } from "../views/apply.ts";
import { printable } from "../views/layout.ts";

export async function run(session: Session): Promise<number> {
	requireConsent(session);
	const view = session.view();
	return withIo(session, await stateRoot(session), async (io) => {
		const runs = await findRuns(session.args, io.store);
		const addresses = runs.map((one) => one.address);
		if (session.options["auto-approve"] !== true) {
			const answer = await session.ask(
				`Cancel ${addresses.map(printable).join(", ")}?  Only "yes" is accepted: `,
			);
			if (answer?.trim() !== "yes") throw notApproved(session, "not cancelled");
		}
		let left = false;
		for (const stack of new Set(runs.map((one) => one.stack))) {
			const benchmarks = runs.filter((one) => one.stack === stack).map((one) => one.benchmark);
			await cancelRuns(stack, io, {
				benchmarks,
				lockTimeout: Number(textOption(session.options, "lock-timeout") ?? 0),
				cancelled(address, ids, stillThere) {
					left ||= stillThere;
					view.applyOutcomes([cancelOutcome(address, ids, stillThere)], addresses);
				},
			});
		}
		return left ? EXIT.failure : EXIT.ok;
	});
}
