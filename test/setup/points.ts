/** Names of the points at which tests stop a command: one list for all of them. */

/** Inside the submit exchange, in order. */
export const SUBMIT_POINTS = [
	"submit.staged",
	"submit.accepted",
	"submit.recorded",
	"submit.release",
	"submit.released",
	"submit.written",
] as const;

/** Inside the cancel exchange, in order. */
export const CANCEL_POINTS = ["cancel.marked", "cancel.done"] as const;

/** Around an exchange over ssh. */
export function exchange(name: string): readonly string[] {
	return [`exchange.${name}.before`, `exchange.${name}.after`];
}

/** Around a write of the state. */
export function write(why: string): readonly string[] {
	return [`state.${why}.before`, `state.${why}.staged`, `state.${why}.linked`];
}

/** Those of a command that holds the stack's lock. */
export function locked(...points: readonly string[]): readonly string[] {
	return ["lock.acquired", ...points, "lock.release"];
}
