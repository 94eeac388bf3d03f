/** `gym adopt RUN_DIR`: takes a run directory into the state, also one of `gym eval submit`. */
import { adoptRun } from "../../apply/adopt.ts";
import { EXIT, fail } from "../../errors.ts";
import { textOption } from "../options.ts";
import { withIo } from "../process-io.ts";
import { loadValid, type Session } from "../session.ts";
import { adoptOutcome } from "../views/apply.ts";

export async function run(session: Session): Promise<number> {
	const { root, stacks } = await loadValid(session, []);
	const [stack, ...more] = stacks;
	if (!stack || more.length > 0) {
		throw fail("invalid", "stack-needed", "there are several stacks", "adopt works on a file with one stack");
	}
	const view = session.view();
	return withIo(session, root, async (io) => {
		await adoptRun(stack, io, {
			runDir: session.args[0]!.replace(/\/gym-job\.json$/, "").replace(/\/+$/, ""),
			lockTimeout: Number(textOption(session.options, "lock-timeout") ?? 0),
			adopted: (address, found) => view.applyOutcomes([adoptOutcome(address, found)]),
		});
		return EXIT.ok;
	});
}
