/** `gym status`: what runs, how far it is, its reward so far. Changes nothing. */
import { statusOf } from "../../engine.ts";
import { EXIT } from "../../errors.ts";
import { withIo } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot, stateStacks } from "../state-stacks.ts";

export async function run(session: Session): Promise<number> {
	const { options } = session;
	const refresh = options.offline !== true && options.refresh !== "false";
	const view = session.view();
	return withIo(session, stateRoot(session), async (io) => {
		const rows = [];
		let asOf: number | null = null;
		for (const stack of await stateStacks(io.store, session.args)) {
			const seen = await statusOf(stack, io, { refresh });
			asOf = seen.at ?? asOf;
			rows.push(...seen.runs.map(({ benchmark, run }) => ({ stack, benchmark, run })));
		}
		view.status({ rows, asOf });
		return EXIT.ok;
	});
}
