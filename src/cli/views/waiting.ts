/** What a wait tells: one line for each change of status. */
import type { Change } from "../../apply/wait.ts";
import { currentSegment } from "../../chain/segments.ts";
import type { Unstamped } from "./events.ts";
import { printable } from "./layout.ts";

/** The line of a change; a run that stopped short is named with what goes on with it. */
export function waitingText({ address, run, isDue }: Change): string {
	const job = currentSegment(run.segments)?.jobId;
	const note = run.note?.split("\n")[0];
	const parts = [
		...(job ? [`job ${job}`] : []),
		...(note ? [note] : []),
		...(isDue ? ["stopped short: gym apply goes on with it"] : []),
	];
	return `  ${printable(address)}   ${`${run.status}   ${printable(parts.join(", "))}`.trimEnd()}\n`;
}

/** The same as an event. */
export function waitingEvent({ address, from, run, isDue }: Change): Unstamped {
	return {
		type: "waiting",
		addr: address,
		from,
		to: run.status,
		job_id: currentSegment(run.segments)?.jobId ?? null,
		note: run.note,
		due: isDue,
	};
}
