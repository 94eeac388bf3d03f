/** `gym cancel`: ends a benchmark's jobs; artifacts, logs and history are kept. */
import { cancelRuns } from "../../apply/cancel.ts";
import { EXIT } from "../../errors.ts";
import { type AddressedRun, findRun } from "../address.ts";
import { notApproved, requireConsent } from "../consent.ts";
import { textOption } from "../options.ts";
import { withIo } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot } from "../state-stacks.ts";
import { cancelOutcome } from "../views/apply.ts";

export async function run(session: Session): Promise<number> {
	requireConsent(session);
	const view = session.view();
	return withIo(session, stateRoot(session), async (io) => {
		const runs: AddressedRun[] = [];
		for (const address of session.args) runs.push(await findRun(address, io.store));
		if (session.options["auto-approve"] !== true) {
			const names = runs.map((one) => one.address).join(", ");
			const answer = await session.ask(`Cancel ${names}?  Only "yes" is accepted: `);
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
					view.applyOutcomes([cancelOutcome(address, ids, stillThere)]);
				},
			});
		}
		return left ? EXIT.failure : EXIT.ok;
	});
}
