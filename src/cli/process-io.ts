/** The engine's `Io` of a real process. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { thisHost } from "../../state/backends/host.ts";
import { localStore } from "../../state/backends/local.ts";
import type { ClusterRef } from "../../state/document.ts";
import type { Host } from "../../state/host.ts";
import type { StateStore } from "../../state/store.ts";
import { localScheduler } from "../cluster/local/scheduler.ts";
import type { Scheduler } from "../cluster/scheduler.ts";
import { slurmScheduler } from "../cluster/slurm/scheduler.ts";
import { connect } from "../cluster/transport/connect.ts";
import { fail } from "../errors.ts";
import type { Io } from "../io.ts";
import type { Points } from "../points.ts";
import { VERSION } from "../version.ts";
import { processPoints } from "./points.ts";
import type { Session } from "./session.ts";

/** This machine, for the lock: the wait for it ends at once when a signal comes. */
function lockHost(signal: AbortSignal): Host {
	const stopped = (cause: unknown) =>
		fail("interrupted", "interrupted", "stopped while it waited for the lock", "run it again", cause);
	return {
		...thisHost(),
		sleep: (ms) =>
			sleep(ms, undefined, { signal }).catch((cause: unknown) => {
				throw stopped(cause);
			}),
	};
}

/** The state of the stacks beside `root`. @throws GymError in `acquire`, also code `interrupted` */
export function stateStore({ env, signal }: Pick<Session, "env" | "signal">, root: string): StateStore {
	const points = processPoints(env);
	return localStore({ directory: join(root, ".gym"), writer: VERSION, host: lockHost(signal), points });
}

function overTransport(session: Session, { hostname }: ClusterRef, points: Points): Scheduler {
	const transport = connect(hostname, {
		env: session.env,
		points,
		nonce: () => randomBytes(16).toString("hex"),
		terminal: session.interactive ? (words) => session.err(words) : null,
	});
	return slurmScheduler(transport, points);
}

/** The supervisor lies beside this program's entry, whichever chunk this code is in. */
function supervisorPath(): string {
	const here = fileURLToPath(import.meta.url);
	return join(here.slice(0, here.lastIndexOf("/dist/")), "dist", "supervisor.js");
}

function onThisMachine(session: Session, { outputPath }: ClusterRef, points: Points): Scheduler {
	const { env } = session;
	return localScheduler({
		outputPath,
		host: thisHost(),
		points,
		env,
		supervisor: supervisorPath(),
		now: () => new Date(),
	});
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
	const schedulers = new Map<string, Scheduler>();
	const io: Io = {
		store: stateStore(session, root),
		scheduler(cluster) {
			const key = JSON.stringify([
				cluster.type,
				cluster.hostname,
				cluster.type === "local" ? cluster.outputPath : "",
			]);
			const known = schedulers.get(key);
			if (known) return known;
			session.noteContact();
			const made =
				cluster.type === "local"
					? onThisMachine(session, cluster, points)
					: overTransport(session, cluster, points);
			schedulers.set(key, made);
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
