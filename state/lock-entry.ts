/** One entry in the succession of a stack's locks, as text. */
import * as z from "zod";
import { unreadable } from "./problems.ts";
import type { Holder } from "./store.ts";

/** Text that can be shown on a terminal: other people write these. */
const word = z.string().regex(/^\P{Cc}*$/u);

const holder = z.strictObject({
	id: word,
	operation: word,
	user: word,
	host: word,
	pid: z.int().min(1),
	startTime: word.nullable(),
	bootId: word.nullable(),
	beat: z.int().min(0),
});

const entry = z.strictObject({ version: z.literal(1), holder: holder.nullable() });

/** Text of an entry; null is "free since then". */
export function serializeLock(holder: Holder | null): string {
	return `${JSON.stringify({ version: 1, holder })}\n`;
}

/** Who holds the lock by this entry; null when it is free. @throws GymError code `lock-unreadable` */
export function parseLock(text: string, where: string): Holder | null {
	try {
		return entry.parse(JSON.parse(text)).holder;
	} catch (cause) {
		throw unreadable("lock-unreadable", where, ["not a lock of this program"], cause);
	}
}
