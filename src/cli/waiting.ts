/** `-wait` as a conversation: tells each change of status, and ends with the runs. */
import { setTimeout } from "node:timers/promises";
import { type Awaited, INTERVALS, waitForRuns } from "../apply/wait.ts";
import { statusOf } from "../engine.ts";
import { EXIT, fail, GymError } from "../errors.ts";
import type { Io } from "../io.ts";
import { textOption } from "./options.ts";
import type { Session } from "./session.ts";

/** How long a command line wants to wait, in milliseconds; null: as long as it takes; undefined: not at all. */
export function waitTimeout({ options }: Session): number | null | undefined {
	const seconds = textOption(options, "wait-timeout");
	if (seconds !== undefined) return Number(seconds) * 1000;
	return options.wait === true ? null : undefined;
}

/**
 * Waits until none of the runs is live. @returns the exit code: `ok` when all succeeded
 * @throws GymError exit `timedOut`, code `wait-timeout`; exit `interrupted`: jobs are left alone
 */
export async function awaitRuns(
	session: Session,
	io: Io,
	awaited: readonly Awaited[],
	timeoutMs: number | null,
): Promise<number> {
	const view = session.view();
	const open = new Set(awaited.map(({ address }) => address));
	const end = await waitForRuns(
		awaited,
		{
			look: async (stack) => {
				const { runs } = await statusOf(stack, io, { refresh: true, rollouts: false });
				return new Map(runs.map(({ benchmark, run }) => [benchmark, run]));
			},
			sleep: (ms) => setTimeout(ms, undefined, { signal: session.signal }).catch(() => undefined),
			monotonicMs: () => performance.now(),
			signal: session.signal,
		},
		{
			timeoutMs,
			intervals: INTERVALS,
			changed: (change) => {
				if (change.isOver) open.delete(change.address);
				view.waiting(change);
			},
			silent: (error) => session.err(`${messageOf(error)}; asking again\n`),
		},
	);
	if (end === "succeeded") return EXIT.ok;
	if (end === "not-succeeded") return EXIT.failure;
	const jobs = "the jobs go on";
	if (end === "interrupted") throw fail("interrupted", "interrupted", `stopped waiting; ${jobs}`);
	const message = `not over in time: ${[...open].join(", ")}; ${jobs}`;
	throw fail("timedOut", "wait-timeout", message, "gym status shows how far they are");
}

function messageOf(error: unknown): string {
	if (!GymError.is(error)) throw error;
	return error.problems[0]!.message;
}
