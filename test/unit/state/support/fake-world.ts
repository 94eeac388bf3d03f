/** Machines and a clock without waiting: `sleep` moves the clock and lets every timer on the way do its work. */
import type { Host } from "../../../../state/host.ts";

interface Timer {
	readonly every: number;
	readonly pid: number;
	readonly task: () => Promise<void>;
	due: number;
}

export interface FakeWorld {
	/** A process; its timers run while it is neither stopped nor killed. */
	host(facts: { pid: number; hostname?: string; bootId?: string | null; startTime?: string }): Host;
	advance(ms: number): Promise<void>;
	/** Like SIGSTOP: still there, but its timers no longer run. */
	stop(pid: number): void;
	/** Like SIGKILL. */
	kill(pid: number): void;
}

export function fakeWorld(): FakeWorld {
	let now = 0;
	let ids = 0;
	const timers = new Set<Timer>();
	const stopped = new Set<number>();
	const processes = new Map<number, string>();
	const advance = async (ms: number) => {
		const end = now + ms;
		for (;;) {
			const [next] = [...timers].filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due);
			if (next === undefined) break;
			now = Math.max(now, next.due);
			next.due += next.every;
			if (!stopped.has(next.pid)) await next.task();
		}
		now = Math.max(now, end);
	};
	return {
		advance,
		stop: (pid) => void stopped.add(pid),
		kill(pid) {
			stopped.add(pid);
			processes.delete(pid);
		},
		host({ pid, hostname = "login1", bootId = "boot-1", startTime = `start-${pid}` }) {
			processes.set(pid, startTime);
			return {
				user: "alice",
				hostname,
				pid,
				bootId,
				processAt(wanted) {
					const started = processes.get(wanted);
					return started === undefined ? null : { startTime: started };
				},
				monotonicMs: () => now,
				sleep: advance,
				every(ms, task) {
					const timer = { every: ms, pid, task, due: now + ms };
					timers.add(timer);
					return () => void timers.delete(timer);
				},
				newId: () => `id-${pid}-${++ids}`,
			};
		},
	};
}
