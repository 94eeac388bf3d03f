/**
 * The lock of a stack: a lease that expires, kept as a log. Each entry is a holder or "free", the newest one
 * counts, and its number is the fencing number. Taking, taking over, giving back and unlocking all append the
 * next number, which only one can make: no lock is ever removed or overwritten by anyone but its holder.
 */
import type { Host } from "./host.ts";
import { parseLock, serializeLock } from "./lock-entry.ts";
import { type NumberedLog, newestEntry } from "./numbered-log.ts";
import { locked, lockUnknown } from "./problems.ts";
import type { Holder } from "./store.ts";

/** A lease expires when its heartbeat was seen to stand still for this long. */
export const LEASE_TTL_MS = 60_000;
/** Time between heartbeats. */
export const HEARTBEAT_MS = 10_000;
/** Time between two looks at a lock that is held. */
const POLL_MS = 1_000;

/** A lock as it was taken. */
export interface HeldLock {
	/** Fencing number. */
	readonly number: number;
	readonly holder: Holder;
	/** Whose expired lock this replaced. */
	readonly tookOver: Holder | null;
}

/** The lock as the newest entry has it; number 0 before the first. @throws GymError code `lock-unreadable` */
export async function currentLock(locks: NumberedLog): Promise<{ number: number; holder: Holder | null }> {
	const entry = await newestEntry(locks);
	if (entry === null) return { number: 0, holder: null };
	return { number: entry.number, holder: parseLock(entry.text, locks.where(entry.number)) };
}

/**
 * Takes the lock, waiting up to `timeoutSeconds` for it to be given back or to expire.
 * @throws GymError code `state-locked` (exit `locked` without a wait, `timedOut` after one), `lock-unreadable`
 */
export async function takeLock(
	locks: NumberedLog,
	host: Host,
	stack: string,
	operation: string,
	timeoutSeconds: number,
): Promise<HeldLock> {
	const holder = newHolder(host, operation);
	const started = host.monotonicMs();
	let watched = { pulse: "", since: started };
	for (;;) {
		const current = await currentLock(locks);
		const now = host.monotonicMs();
		const pulse = `${current.number}:${current.holder?.beat}`;
		if (pulse !== watched.pulse) watched = { pulse, since: now };
		const other = current.holder;
		if (other === null || isGone(other, host) || now - watched.since >= LEASE_TTL_MS) {
			const number = current.number + 1;
			if (await locks.append(number, serializeLock(holder))) return { number, holder, tookOver: other };
			continue;
		}
		const left = started + timeoutSeconds * 1000 - now;
		if (left <= 0) throw locked(stack, other, LEASE_TTL_MS / 1000, timeoutSeconds > 0);
		await host.sleep(Math.min(POLL_MS, left));
	}
}

/**
 * Keeps a lock alive until the returned function has been called and has ended. A beat that cannot be written is
 * left out: at worst the lease expires, and then this holder's writes are refused.
 */
export function keepAlive(locks: NumberedLog, host: Host, lock: HeldLock): () => Promise<void> {
	let beat = lock.holder.beat;
	let latest = Promise.resolve();
	const cancel = host.every(HEARTBEAT_MS, () => {
		latest = latest.then(async () => {
			beat += 1;
			await locks.replace(lock.number, serializeLock({ ...lock.holder, beat })).catch(() => undefined);
		});
		return latest;
	});
	return () => {
		cancel();
		return latest;
	};
}

/** Gives a lock back; does nothing when it is no longer the newest. @throws GymError code `state-unwritable` */
export async function giveBack(locks: NumberedLog, number: number): Promise<void> {
	await locks.append(number + 1, serializeLock(null));
}

/**
 * Ends the lock of another process by its id.
 * @returns the fencing number from which on that holder is shut out
 * @throws GymError code `lock-unknown` when the lock is not held under that id
 */
export async function breakLock(locks: NumberedLog, stack: string, id: string): Promise<number> {
	const { number, holder } = await currentLock(locks);
	if (holder?.id !== id) throw lockUnknown(stack, id, holder);
	if (await locks.append(number + 1, serializeLock(null))) return number + 1;
	throw lockUnknown(stack, id, (await currentLock(locks)).holder);
}

function newHolder(host: Host, operation: string): Holder {
	return {
		id: host.newId(),
		operation,
		user: host.user,
		host: host.hostname,
		pid: host.pid,
		startTime: host.processAt(host.pid)?.startTime ?? null,
		bootId: host.bootId,
		beat: 0,
	};
}

/** Whether the holder's process surely ended: only this machine, in the same boot, can say so. */
function isGone(holder: Holder, host: Host): boolean {
	if (holder.bootId === null || holder.bootId !== host.bootId || holder.host !== host.hostname) return false;
	const found = host.processAt(holder.pid);
	if (found === null) return true;
	return found.startTime !== null && holder.startTime !== null && found.startTime !== holder.startTime;
}
