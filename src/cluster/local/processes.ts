/**
 * The processes of a job, from `/proc`: by their mark, and all that belongs to those that have it. A supervisor belongs
 * to no job, whoever started it: that of a successor outlives the job that queued it.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { Host } from "../../../state/host.ts";
import { MARK, SUPERVISES } from "./environment.ts";

/** Milliseconds that what is left of a job gets between TERM and KILL. */
const GRACE_MS = 2_000;

/** Milliseconds of KILL after which a process counts as one that cannot be killed (it hangs in the kernel). */
const PATIENCE_MS = 10_000;

const POLL_MS = 50;

interface Process {
	readonly pid: number;
	readonly parent: number;
	readonly session: number;
	readonly marked: boolean;
}

function readProcess(pid: number, mark: string): Process | null {
	try {
		const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
		// The program's name, in parentheses, may hold anything.
		const [state, parent, , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
		if (state === "Z" || state === "X") return null;
		const environment = environmentOf(pid);
		if (environment.some((entry) => entry.startsWith(`${SUPERVISES}=`))) return null;
		const marked = environment.includes(`${MARK}=${mark}`);
		return { pid, parent: Number(parent), session: Number(session), marked };
	} catch {
		return null; // it has ended
	}
}

function environmentOf(pid: number): readonly string[] {
	try {
		return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
	} catch {
		return []; // of another user
	}
}

/**
 * Living processes of the job with this mark: those that carry it, their descendants, and whoever shares a
 * session with one of them (a program may have cleared its environment).
 * @param session the session that the job's script was started in, when its leader is known to be the script
 */
function jobProcesses(mark: string, session: number | null, host: Host): readonly number[] {
	const all = readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.flatMap((name) => readProcess(Number(name), mark) ?? []);
	const sessions = new Set(session === null ? [] : [session]);
	const found = new Set<number>();
	for (let before = -1; before !== found.size; ) {
		before = found.size;
		for (const one of all) {
			if (!one.marked && !found.has(one.parent) && !sessions.has(one.session)) continue;
			found.add(one.pid);
			sessions.add(one.session);
		}
	}
	found.delete(host.pid);
	return [...found];
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
	for (const pid of pids) {
		try {
			process.kill(pid, signal);
		} catch {
			// It has ended by itself.
		}
	}
}

/** Ends all processes of a job: TERM, a grace, KILL until none is left. */
export async function endProcesses(mark: string, session: number | null, host: Host): Promise<void> {
	signalAll(jobProcesses(mark, session, host), "SIGTERM");
	const since = host.monotonicMs();
	for (;;) {
		const left = jobProcesses(mark, session, host);
		const waited = host.monotonicMs() - since;
		if (left.length === 0 || waited > GRACE_MS + PATIENCE_MS) return;
		if (waited > GRACE_MS) signalAll(left, "SIGKILL");
		await host.sleep(POLL_MS);
	}
}
