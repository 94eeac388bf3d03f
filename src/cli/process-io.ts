/** The engine's `Io` of a real process. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { thisHost } from "../../state/backends/host.ts";
import { localStore } from "../../state/backends/local.ts";
import type { ClusterRef } from "../../state/document.ts";
import type { StateStore } from "../../state/store.ts";
import type { Scheduler } from "../cluster/scheduler.ts";
import { slurmScheduler } from "../cluster/slurm/scheduler.ts";
import { connect } from "../cluster/transport/connect.ts";
import type { Io } from "../io.ts";
import { VERSION } from "../version.ts";
import { processPoints } from "./points.ts";
import type { Session } from "./session.ts";

/** `GYMFILE_SSH_CONFIG` names another configuration file for ssh than the user's own. */
function sshArguments(env: NodeJS.ProcessEnv): readonly string[] {
	const config = env.GYMFILE_SSH_CONFIG;
	return config ? ["-F", config] : [];
}

/** The state of the stacks beside `root`. */
export function stateStore(session: Session, root: string): StateStore {
	const points = processPoints(session.env);
	return localStore({ directory: join(root, ".gym"), writer: VERSION, host: thisHost(), points });
}

/**
 * Runs `work` with the real thing: state in `<root>/.gym`, one connection for each cluster, all closed at the end.
 */
export async function withIo<Result>(
	session: Session,
	root: string,
	work: (io: Io) => Promise<Result>,
): Promise<Result> {
	const points = processPoints(session.env);
	const schedulers = new Map<string | null, Scheduler>();
	const io: Io = {
		store: stateStore(session, root),
		scheduler(cluster: ClusterRef) {
			const known = schedulers.get(cluster.hostname);
			if (known) return known;
			const made = slurmScheduler(
				connect(cluster.hostname, {
					env: session.env,
					points,
					sshArgs: sshArguments(session.env),
					nonce: () => randomBytes(16).toString("hex"),
					terminal: session.interactive ? (words) => session.err(words) : null,
				}),
				points,
			);
			schedulers.set(cluster.hostname, made);
			return made;
		},
		hostEnv: (name) => session.env[name],
		now: () => new Date(),
		randomHex: (bytes) => randomBytes(bytes).toString("hex"),
		points,
		version: VERSION,
		signal: session.signal,
	};
	try {
		return await work(io);
	} finally {
		for (const scheduler of schedulers.values()) await scheduler.close();
	}
}
