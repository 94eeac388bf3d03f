/** `gym status`: what runs, how far it is, its reward so far. Changes nothing. */
import { statusOf } from "../../engine.ts";
import { EXIT } from "../../errors.ts";
import { forEachStack } from "../each-stack.ts";
import { withIo } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot, stateStacks } from "../state-stacks.ts";
import type { StatusScreen } from "../views/status.ts";

export async function run(session: Session): Promise<number> {
	const { options } = session;
	const refresh = options.offline !== true && options.refresh !== "false";
	const view = session.view();
	return withIo(session, stateRoot(session), async (io) => {
		const rows: StatusScreen["rows"][number][] = [];
		let asOf: number | null = null;
		const names = await stateStacks(io.store, session.args);
		const code = await forEachStack(
			names.map((name) => ({ name })),
			session,
			async ({ name: stack }) => {
				const { at, runs } = await statusOf(stack, io, { refresh });
				// Of several clusters' looks the oldest counts.
				if (at !== null) asOf = Math.min(at, asOf ?? at);
				rows.push(...runs.map(({ benchmark, run }) => ({ stack, benchmark, run })));
				return EXIT.ok;
			},
		);
		if (rows.length > 0 || code === EXIT.ok) view.status({ rows, asOf });
		return code;
	});
}
