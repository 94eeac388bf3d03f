/** One look at the cluster for a whole state. */
import type { StateDocument } from "../../state/document.ts";
import { cutQueries, queriesFor, type Refreshed, refreshState } from "../chain/refresh.ts";
import type { Observation, PreflightQuery, RunQuery, Scheduler } from "../cluster/scheduler.ts";

/** What was seen, and the state with it. */
export interface Look extends Refreshed {
	readonly observation: Observation;
}

/**
 * Looks at every run whose story may go on. One exchange; of runs that are over with more rollouts than it carries,
 * further ones bring the rest, so that no result is told from a part of its rollouts.
 * @param rollouts false: leave them unread, progress stays as it was
 */
export async function observeState(
	state: StateDocument,
	scheduler: Scheduler,
	preflight: PreflightQuery | null,
	rollouts = true,
): Promise<Look> {
	const queries = queriesFor(state);
	const observation = await scheduler.observe(
		rollouts ? queries : queries.map((query) => ({ ...query, rolloutsOffset: null })),
		preflight,
	);
	const first = refreshState(state, observation);
	let now = first.state;
	for (const query of cutQueries(now, observation)) now = await readOn(now, query, scheduler);
	return { ...first, state: now, observation };
}

/** Reads the rollouts of one run to their end. A single row that no exchange can carry is where it stops. */
async function readOn(state: StateDocument, query: RunQuery, scheduler: Scheduler): Promise<StateDocument> {
	const observation = await scheduler.observe([query], null);
	const now = refreshState(state, observation).state;
	const next = cutQueries(now, observation).find(({ jobDir }) => jobDir === query.jobDir);
	if (next === undefined || next.rolloutsOffset === query.rolloutsOffset) return now;
	return readOn(now, next, scheduler);
}
