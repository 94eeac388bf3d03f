/** Every message about the state or its lock, each with its remedy. */
import { GymError } from "../src/errors.ts";
import { STATE_VERSION } from "./document.ts";
import type { Holder } from "./store.ts";

/** Codes of the files that cannot be trusted. */
type UnreadableCode = "state-unreadable" | "lock-unreadable";

/** A state or lock that is there, or may be there, and cannot be read: one problem a reason. Never taken for none. */
export function unreadable(
	code: UnreadableCode,
	where: string,
	reasons: readonly string[],
	cause?: unknown,
): GymError {
	const remedy =
		code === "lock-unreadable"
			? "make sure that no other gym command is running on this stack, then delete that file"
			: "nothing was changed. Make it readable, or restore an earlier serial: moving the broken newest file away goes back to the one before";
	return new GymError(
		"failure",
		reasons.map((reason) => ({
			code,
			severity: "error",
			at: "",
			message: `${where}: ${reason}`,
			remedy,
			source: { file: where },
		})),
		{ cause },
	);
}

/** A state in a format that only a later program knows. */
export function newer(where: string, version: number, writer: unknown): GymError {
	const named = typeof writer === "string" && /^[\w.+-]{1,40}$/.test(writer) ? `gymfile ${writer}` : null;
	return new GymError("failure", {
		code: "state-newer",
		severity: "error",
		at: "",
		message: `${where}: written by ${named ?? "a newer gymfile"} in format ${version}; this program reads up to format ${STATE_VERSION}`,
		remedy: `use ${named ? `${named} or later` : "the version that wrote it"}`,
		source: { file: where },
	});
}

/** Writing failed, e.g. disk full. `reason` is the system's own word. */
export function unwritable(where: string, reason: string, cause: unknown): GymError {
	return new GymError(
		"failure",
		{
			code: "state-unwritable",
			severity: "error",
			at: "",
			message: `${where}: cannot be written: ${reason}`,
			remedy:
				"the state before it is untouched. Check free space, permissions, and that the file system has hard links, then run the command again",
			source: { file: where },
		},
		{ cause },
	);
}

/** Somebody else wrote, or holds the lock by now. */
export function moved(stack: string, reason: string): GymError {
	return new GymError("stale", {
		code: "state-moved",
		severity: "error",
		at: "",
		message: `the state of stack ${JSON.stringify(stack)} was not written: ${reason}`,
		remedy: "run `gym plan` again: it starts from the state as it is now and finds whatever was submitted",
	});
}

/** The lock is somebody else's. `waited` is whether a wait ran out (exit `timedOut`) or there was none (`locked`). */
export function locked(stack: string, holder: Holder, ttlSeconds: number, waited: boolean): GymError {
	return new GymError(waited ? "timedOut" : "locked", {
		code: "state-locked",
		severity: "error",
		at: "",
		message: `stack ${JSON.stringify(stack)} is locked by ${describe(holder)}`,
		remedy: `wait for it (\`-lock-timeout=SECONDS\`; beyond ${ttlSeconds} s this takes over from a holder whose heartbeat stands still), or, when that process is surely gone: \`gym state unlock ${stack} ${holder.id}\``,
	});
}

/** A holder in one line. */
export function describe(holder: Holder): string {
	return `${holder.user} on ${holder.host} (${holder.operation}, pid ${holder.pid}, lock ${holder.id}, heartbeat ${holder.beat})`;
}

/** `gym state unlock` with an id that is not the lock's. `holder` is who holds it; null: nobody. */
export function lockUnknown(stack: string, id: string, holder: Holder | null): GymError {
	return new GymError("failure", {
		code: "lock-unknown",
		severity: "error",
		at: "",
		message: `stack ${JSON.stringify(stack)} is not locked under ${JSON.stringify(id)}: it is ${holder ? `locked by ${describe(holder)}` : "not locked"}`,
		...(holder ? { remedy: `\`gym state unlock ${stack} ${holder.id}\` removes that lock` } : {}),
	});
}
