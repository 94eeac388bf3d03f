/** This machine behind the `Scheduler` interface: jobs are processes, one at a time per output path. Linux only. */
import type { Scheduler } from "../scheduler.ts";
import { cancel } from "./cancel.ts";
import { LABEL, type LocalContext } from "./context.ts";
import { findSubmissions } from "./find.ts";
import { endGone } from "./gone.ts";
import { readLogs } from "./logs.ts";
import { look } from "./look.ts";
import { registryOf } from "./registry.ts";
import { submit } from "./submit.ts";
import { update } from "./update.ts";

/** The scheduler of an output path. Supervisors outlive it; closing it does nothing. */
export function localScheduler(context: LocalContext): Scheduler {
	return {
		label: LABEL,
		submit: (submission) => submit(submission, context),
		observe: (queries, preflight) => look(queries, preflight, context),
		find: (where) => findSubmissions(where, context),
		cancel: (jobDirs) => cancel(jobDirs, context),
		update: (updates) => update(updates, context),
		endFallen: () => endGone(registryOf(context.outputPath), context.host, context.now),
		logs: readLogs,
		close: async () => undefined,
	};
}
