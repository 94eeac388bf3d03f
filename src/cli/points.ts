/** The named points of a real process: tests list them (`GYMFILE_TEST_LIST_POINTS`) and stop it at one (`GYMFILE_TEST_STOP_AT`). */
import type { Points } from "../points.ts";

/** Names inside remote scripts; all others are in this process. */
const REMOTE = /^(submit|cancel|update)\./;

/**
 * Without the variable, points do nothing. With it, this process kills itself with SIGKILL at that point, or the
 * remote script does where the point is inside one.
 */
export function processPoints(env: NodeJS.ProcessEnv): Points {
	const stopAt = env.GYMFILE_TEST_STOP_AT;
	return {
		reach: async (name) => {
			if (env.GYMFILE_TEST_LIST_POINTS) process.stderr.write(`point ${name}\n`);
			if (name === stopAt) process.kill(process.pid, "SIGKILL");
		},
		...(stopAt && REMOTE.test(stopAt) ? { remote: stopAt } : {}),
	};
}
