/** `gym why`: the story of a run, job by job, and what can be done next. Changes nothing. */
import { statusOf } from "../../engine.ts";
import { EXIT } from "../../errors.ts";
import { findRuns } from "../address.ts";
import { withIo } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot } from "../state-stacks.ts";

export async function run(session: Session): Promise<number> {
	const { options } = session;
	const refresh = options.offline !== true && options.refresh !== "false";
	const view = session.view();
	return withIo(session, await stateRoot(session), async (io) => {
		const found = await findRuns(session.args, io.store);
		for (const stack of new Set(found.map((one) => one.stack))) {
			const { at, runs } = await statusOf(stack, io, { refresh });
			for (const { benchmark, address, run: known } of found.filter((one) => one.stack === stack)) {
				const seen = runs.find((one) => one.benchmark === benchmark)?.run ?? known;
				view.why({ address, run: seen, asOf: at });
			}
		}
		return EXIT.ok;
	});
}
