/** `gym destroy`: cancels every live job of the stacks; artifacts and history are kept. */
import { isLive, type RunStatus, type StateDocument } from "../../../state/document.ts";
import { cancelRuns } from "../../apply/cancel.ts";
import { observeState } from "../../apply/observe.ts";
import { queriesFor } from "../../chain/refresh.ts";
import { EXIT } from "../../errors.ts";
import type { Io } from "../../io.ts";
import { notApproved, requireConsent } from "../consent.ts";
import { forEachStack } from "../each-stack.ts";
import { textOption } from "../options.ts";
import { withIo } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot, stateStacks } from "../state-stacks.ts";
import { cancelOutcome } from "../views/apply.ts";
import { plural } from "../views/words.ts";

export async function run(session: Session): Promise<number> {
	requireConsent(session);
	return withIo(session, await stateRoot(session), async (io) => {
		const names = await stateStacks(io.store, session.args);
		return forEachStack(
			names.map((name) => ({ name })),
			session,
			({ name }) => destroyStack(name, io, session),
		);
	});
}

/** Ends that leave nothing behind. After any other, such as a lost node, a cancel ends what may be left. */
const CLEAN_ENDS: ReadonlySet<RunStatus> = new Set([
	"succeeded",
	"failed",
	"timeout",
	"cancelled",
	"stopped",
]);

/** Benchmarks with something to cancel, by a look at the cluster; nothing is written. */
async function liveBenchmarks(stack: string, io: Io): Promise<readonly string[]> {
	const before = await io.store.read(stack);
	if (!before?.cluster || queriesFor(before).length === 0) return [];
	const { state: now } = await observeState(before, io.scheduler(before.cluster), null, false);
	const runsOf = (state: StateDocument, benchmark: string) => {
		const { current, history } = state.benchmarks.get(benchmark)!;
		return current ? [current, ...history] : history;
	};
	return [...before.benchmarks.keys()].filter((benchmark) => {
		const seen = runsOf(now, benchmark).map(({ status }) => status);
		return runsOf(before, benchmark).some(
			({ status }, i) => isLive(seen[i]!) || (isLive(status) && !CLEAN_ENDS.has(seen[i]!)),
		);
	});
}

/** @returns the exit code: `failure` when jobs were still listed at the end */
async function destroyStack(stack: string, io: Io, session: Session): Promise<number> {
	const view = session.view();
	const live = await liveBenchmarks(stack, io);
	if (live.length === 0) {
		session.err(`Nothing of ${stack} is live.\n`);
		return EXIT.ok;
	}
	const count = String(live.length);
	const question = `Cancel ${plural(live.length, "benchmark")} of ${stack}: ${live.join(", ")}?  Only the number ${count} is accepted: `;
	if (session.options["auto-approve"] !== true && (await session.ask(question))?.trim() !== count) {
		throw notApproved(session, "not destroyed");
	}
	const addresses = live.map((name) => `${stack}/${name}`);
	let left = false;
	await cancelRuns(stack, io, {
		benchmarks: live,
		lockTimeout: Number(textOption(session.options, "lock-timeout") ?? 0),
		cancelled(address, ids, stillThere) {
			left ||= stillThere;
			view.applyOutcomes([cancelOutcome(address, ids, stillThere)], addresses);
		},
	});
	return left ? EXIT.failure : EXIT.ok;
}
