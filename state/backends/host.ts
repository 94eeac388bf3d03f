/** This machine and process, for the lock: from `/proc` where there is one, else from `ps` and `sysctl`. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Host, ProcessFacts } from "../host.ts";

/** The real thing. */
export function thisHost(): Host {
	return {
		user: userName(),
		hostname: hostname(),
		pid: process.pid,
		bootId: bootId(),
		processAt,
		monotonicMs: () => performance.now(),
		sleep: async (ms) => sleep(ms),
		every(ms, task) {
			const timer = setInterval(() => void task(), ms).unref();
			return () => clearInterval(timer);
		},
		newId: randomUUID,
	};
}

/** A user id that has no name (common in containers) stands for itself. */
function userName(): string {
	try {
		return userInfo().username;
	} catch {
		return `uid ${process.getuid?.()}`;
	}
}

/** Containers share their machine's boot id but not its pids, so the pid namespace is part of it. */
function bootId(): string | null {
	return (
		attempt(() => {
			const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
			return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
		}) ?? attempt(() => run("sysctl", ["-n", "kern.bootsessionuuid"]))
	);
}

function processAt(pid: number): ProcessFacts | null {
	if (!exists(pid)) return null;
	const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
	if (stat === null) return { startTime: attempt(() => run("ps", ["-o", "lstart=", "-p", String(pid)])) };
	/* The program's name, in parentheses, may hold anything; after it come the state and 18 more before the start time. */
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	const ended = fields[0] === "Z" || fields[0] === "X";
	return ended ? null : { startTime: fields[19] ?? null };
}

/** Signal 0 tests without sending; it sees processes of others even where `/proc` hides them. */
function exists(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch (error) {
		return !(error instanceof Error && "code" in error && error.code === "ESRCH");
	}
}

function run(program: string, args: readonly string[]): string | null {
	const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
	return (
		execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], env }).trim() || null
	);
}

function attempt<Result>(action: () => Result): Result | null {
	try {
		return action();
	} catch {
		return null;
	}
}
