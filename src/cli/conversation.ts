/** Apply as a conversation: shows the plan, asks, tells what becomes of each address. `gym apply` and `gym resume` are this. */
import { ACTING } from "../apply/apply.ts";
import type { Awaited } from "../apply/wait.ts";
import { applyStack, blocking, type Choice } from "../engine.ts";
import { EXIT } from "../errors.ts";
import type { Io, Stack } from "../io.ts";
import { type ActionKind, QUEUEING } from "../plan/plan.ts";
import { textOption } from "./options.ts";
import type { Session } from "./session.ts";
import {
	type ApplyOutcome,
	adoptOutcome,
	cancelOutcome,
	questionText,
	submitOutcome,
	updateOutcome,
} from "./views/apply.ts";

function account(stack: Stack): string | null {
	const [compute] = stack.config.compute.values();
	return compute?.type === "slurm" ? compute.account : null;
}

/** What came of a conversation. */
export interface Applied {
	/** Exit code: `failure` when something was refused or is still listed. */
	readonly code: number;
	/** The runs that the plan was about and that the gymfile wants. */
	readonly runs: readonly Awaited[];
}

/** Applies one stack. */
export async function converse(session: Session, stack: Stack, io: Io, choice: Choice): Promise<Applied> {
	const { options } = session;
	const view = session.view();
	const outcomes: ApplyOutcome[] = [];
	let addresses: readonly string[] = [];
	let runs: readonly Awaited[] = [];
	let start = performance.now();
	const tell = (outcome: ApplyOutcome) => {
		outcomes.push(outcome);
		view.applyOutcomes([outcome], addresses);
	};
	const result = await applyStack(stack, io, {
		lockTimeout: Number(textOption(options, "lock-timeout") ?? 0),
		choice,
		async confirm(plan) {
			view.plan(plan);
			runs = plan.actions.flatMap(({ address, benchmark, desired }) =>
				desired ? [{ stack: stack.name, benchmark, address, limits: desired.limits }] : [],
			);
			addresses = plan.actions.filter(({ kind }) => ACTING.has(kind)).map(({ address }) => address);
			if (!plan.actions.some(({ kind }) => ACTING.has(kind)) || blocking(plan).length > 0) return true;
			const target = { cluster: plan.cluster ?? stack.name, user: plan.user, account: account(stack) };
			if (
				options["auto-approve"] !== true &&
				(await session.ask(questionText(plan, target)))?.trim() !== "yes"
			)
				return false;
			start = performance.now();
			const count = (kinds: ReadonlySet<ActionKind>) =>
				plan.actions.filter(({ kind }) => kinds.has(kind)).length;
			view.applyStart(stack.name, count(QUEUEING), count(new Set(["cancel"])));
			return true;
		},
		events: {
			tookOver: (holder) => view.tookOver(stack.name, holder),
			adopted: (address, found) => tell(adoptOutcome(address, found)),
			outcome: (address, outcome) => tell(submitOutcome(address, outcome)),
			updated: (outcome) => tell(updateOutcome(outcome)),
			cancelled: (address, jobIds, left) => tell(cancelOutcome(address, jobIds, left)),
		},
	});
	if (outcomes.length > 0) {
		const elapsed = (performance.now() - start) / 1000;
		const { runDirs, serial } = result;
		view.applyComplete({ stack: stack.name, outcomes, runDirs, serial, elapsed });
	}
	const failed = outcomes.some(({ outcome }) => outcome === "refused" || outcome === "left");
	return { code: failed ? EXIT.failure : EXIT.ok, runs };
}
