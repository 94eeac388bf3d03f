/** `gym status`: what runs, how far it is, its reward so far. Changes nothing. */
import { statusOf } from "../../engine.ts";
import { EXIT } from "../../errors.ts";
import { withIo } from "../process-io.ts";
import { loadValid, type Session } from "../session.ts";

export async function run(session: Session): Promise<number> {
	const { options } = session;
	const { root, stacks } = await loadValid(session, session.args);
	const refresh = options.offline !== true && options.refresh !== "false";
	const view = session.view();
	return withIo(session, root, async (io) => {
		const rows = [];
		let asOf: number | null = null;
		for (const stack of stacks) {
			const seen = await statusOf(stack, io, { refresh });
			asOf = seen.at ?? asOf;
			rows.push(...seen.runs.map(({ benchmark, run }) => ({ stack: stack.name, benchmark, run })));
		}
		view.status({ rows, asOf });
		return EXIT.ok;
	});
}
