/** `gym plan`: what apply would do, and why. */

import { blocking, planStack } from "../../engine.ts";
import { EXIT, GymError } from "../../errors.ts";
import { forEachStack } from "../each-stack.ts";
import { choiceOf } from "../options.ts";
import { withIo } from "../process-io.ts";
import { loadValid, type Session } from "../session.ts";

export async function run(session: Session): Promise<number> {
	const { options } = session;
	const { root, stacks } = await loadValid(session, session.args);
	const choice = choiceOf(
		options,
		stacks.map(({ name }) => name),
	);
	const view = session.view();
	const refresh = options.offline !== true && options.refresh !== "false";
	return withIo(session, root, (io) =>
		forEachStack(stacks, session, async (stack) => {
			const plan = await planStack(stack, io, { refresh, choice });
			view.plan(plan);
			const blocked = blocking(plan);
			if (blocked.length > 0) throw new GymError("refused", blocked);
			const changes = plan.actions.some((action) => action.kind !== "none" && action.kind !== "decide");
			return changes && options["detailed-exitcode"] === true ? EXIT.changes : EXIT.ok;
		}),
	);
}
