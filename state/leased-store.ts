/** A `StateStore` over numbered logs: compare-and-swap, fencing and the lease, the same for every place that keeps files. */
import type { Points } from "../src/points.ts";
import { emptyState, type StateDocument } from "./document.ts";
import type { Host } from "./host.ts";
import { breakLock, currentLock, giveBack, type HeldLock, keepAlive, takeLock } from "./lease.ts";
import { type NumberedLog, newestEntry } from "./numbered-log.ts";
import { describe, moved, unreadable } from "./problems.ts";
import { parseState, serializeState } from "./schema.ts";
import type { Lease, StateStore } from "./store.ts";

/** Where the logs of all stacks are. */
export interface LogShelf {
	/** For messages, e.g. `local`. */
	readonly label: string;
	/** Serials of a stack. */
	states(stack: string): NumberedLog;
	/** Succession of a stack's locks. */
	locks(stack: string): NumberedLog;
	/** Stacks that have a state. @throws GymError code `state-unreadable` */
	stacks(): Promise<readonly string[]>;
}

/** What a store gets from outside. */
export interface StoreContext {
	/** Version of this program, kept in each state. */
	readonly writer: string;
	readonly host: Host;
	/** Reached: `lock.acquired`, `lock.release`, `state.<label>.before`, `.staged`, `.linked` (label `fence` after a takeover). */
	readonly points: Points;
}

/** A store over the logs of `shelf`. */
export function leasedStore(shelf: LogShelf, context: StoreContext): StateStore {
	const { host, points } = context;
	return {
		label: shelf.label,
		read: (stack) => readState(shelf.states(stack), stack),
		async acquire(stack, operation, { timeoutSeconds }) {
			const lock = await takeLock(shelf.locks(stack), host, stack, operation, timeoutSeconds);
			await points.reach("lock.acquired");
			const lease = openLease(shelf, context, stack, lock);
			if (lock.tookOver) await fence(shelf.states(stack), context, stack, lock.number).catch(giveUp(lease));
			return lease;
		},
		async unlock(stack, id) {
			const number = await breakLock(shelf.locks(stack), stack, id);
			await fence(shelf.states(stack), context, stack, number);
		},
		history: (stack) => history(shelf.states(stack)),
		stacks: () => shelf.stacks(),
	};
}

function openLease(shelf: LogShelf, context: StoreContext, stack: string, lock: HeldLock): Lease {
	const { host, points } = context;
	const states = shelf.states(stack);
	const locks = shelf.locks(stack);
	const stopBeating = keepAlive(locks, host, lock);
	return {
		holder: lock.holder,
		tookOver: lock.tookOver,
		read: () => readState(states, stack),
		async write(next, label) {
			const current = await currentLock(locks);
			if (current.number !== lock.number) {
				const by = current.holder ? `; now ${describe(current.holder)} has it` : "";
				throw moved(stack, `the lock ${lock.holder.id} was ended${by}`);
			}
			const newest = await readState(states, stack);
			const serial = newest?.serial ?? 0;
			if (serial !== next.serial) {
				throw moved(stack, `it is at serial ${serial} by now, and this was based on ${next.serial}`);
			}
			const lineage = next.lineage || host.newId();
			if (newest !== null && newest.lineage !== lineage) {
				throw moved(stack, `it has lineage ${newest.lineage}, and this was based on ${lineage}`);
			}
			const written = await append(states, context, { ...next, stack, lineage, fence: lock.number }, label);
			if (written === null) throw moved(stack, `somebody else wrote serial ${next.serial + 1} first`);
			return written;
		},
		async release() {
			await stopBeating();
			await points.reach("lock.release");
			/* One that cannot be given back expires: this process ends, or its heartbeat stands still. */
			await giveBack(locks, lock.number).catch(() => undefined);
		},
	};
}

/** Writes the serial after `base`; null when somebody else did. */
async function append(
	states: NumberedLog,
	{ points, writer }: StoreContext,
	base: StateDocument,
	label: string,
): Promise<StateDocument | null> {
	const next = { ...base, serial: base.serial + 1, writer };
	const text = serializeState(next);
	await points.reach(`state.${label}.before`);
	if (!(await states.append(next.serial, text, () => points.reach(`state.${label}.staged`)))) return null;
	await points.reach(`state.${label}.linked`);
	return next;
}

/** Writes the state once more as it is: whoever held the lock before has now read an old serial and cannot write. */
async function fence(
	states: NumberedLog,
	context: StoreContext,
	stack: string,
	number: number,
): Promise<void> {
	for (;;) {
		const base = (await readState(states, stack)) ?? { ...emptyState(stack), lineage: context.host.newId() };
		if (await append(states, context, { ...base, fence: number }, "fence")) return;
	}
}

function giveUp(lease: Lease): (cause: unknown) => Promise<never> {
	return async (cause) => {
		await lease.release();
		throw cause;
	};
}

async function readState(states: NumberedLog, stack: string): Promise<StateDocument | null> {
	const newest = await newestEntry(states);
	if (newest === null) return null;
	const where = states.where(newest.number);
	const document = parseState(newest.text, where);
	const reasons = [
		...(document.stack === stack
			? []
			: [`holds the state of another stack, ${JSON.stringify(document.stack)}`]),
		...(document.serial === newest.number ? [] : [`holds serial ${document.serial}`]),
	];
	if (reasons.length > 0) throw unreadable("state-unreadable", where, reasons);
	return document;
}

async function history(
	states: NumberedLog,
): Promise<{ serial: number; writer: string | null; bytes: number }[]> {
	const kept = [];
	for (const serial of await states.numbers()) {
		const text = await states.read(serial);
		if (text === null) continue;
		kept.push({ serial, writer: writerOf(text, states.where(serial)), bytes: Buffer.byteLength(text) });
	}
	return kept;
}

function writerOf(text: string, where: string): string | null {
	try {
		return parseState(text, where).writer;
	} catch {
		return null;
	}
}
