/** `gym apply`: plan, ask, submit, record. */
import { ACTING } from "../../apply/apply.ts";
import { applyStack } from "../../engine.ts";
import { EXIT } from "../../errors.ts";
import type { Stack } from "../../io.ts";
import { requireConsent } from "../consent.ts";
import { forEachStack } from "../each-stack.ts";
import { choiceOf, textOption } from "../options.ts";
import { withIo } from "../process-io.ts";
import { loadValid, type Session } from "../session.ts";
import {
	type ApplyOutcome,
	adoptOutcome,
	cancelOutcome,
	questionText,
	submitOutcome,
} from "../views/apply.ts";

function account(stack: Stack): string | null {
	const [compute] = stack.config.compute.values();
	return compute?.type === "slurm" ? compute.account : null;
}

export async function run(session: Session): Promise<number> {
	requireConsent(session);
	const { options } = session;
	const approved = options["auto-approve"] === true;
	const { root, stacks } = await loadValid(session, session.args);
	const view = session.view();
	return withIo(session, root, (io) =>
		forEachStack(stacks, session, async (stack) => {
			const outcomes: ApplyOutcome[] = [];
			let start = performance.now();
			const tell = (outcome: ApplyOutcome) => {
				outcomes.push(outcome);
				view.applyOutcomes([outcome]);
			};
			const result = await applyStack(stack, io, {
				lockTimeout: Number(textOption(options, "lock-timeout") ?? 0),
				choice: choiceOf(options),
				async confirm(plan) {
					view.plan(plan);
					const count = (kinds: readonly string[]) =>
						plan.actions.filter(({ kind }) => kinds.includes(kind)).length;
					const [submits, cancels] = [count(["submit", "resubmit"]), count(["cancel"])];
					if (!plan.actions.some(({ kind }) => ACTING.has(kind))) return true;
					const target = { cluster: plan.cluster ?? stack.name, user: plan.user, account: account(stack) };
					if (!approved && (await session.ask(questionText(plan, target)))?.trim() !== "yes") return false;
					start = performance.now();
					view.applyStart(stack.name, submits, cancels);
					return true;
				},
				events: {
					tookOver: (holder) => view.tookOver(stack.name, holder),
					adopted: (address, found) => tell(adoptOutcome(address, found)),
					outcome: (address, outcome) => tell(submitOutcome(address, outcome)),
					cancelled: (address, jobIds, left) => tell(cancelOutcome(address, jobIds, left)),
				},
			});
			if (outcomes.length > 0) {
				const elapsed = (performance.now() - start) / 1000;
				view.applyComplete({
					stack: stack.name,
					outcomes,
					runDirs: result.runDirs,
					serial: result.serial,
					elapsed,
				});
			}
			const failed = outcomes.some(({ outcome }) => outcome === "refused" || outcome === "left");
			return failed ? EXIT.failure : EXIT.ok;
		}),
	);
}
