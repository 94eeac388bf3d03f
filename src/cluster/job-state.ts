/** The one table from what a scheduler calls a job's state to what we call it. Its words are Slurm's; local jobs are told in them too. */
import type { RunStatus } from "../../state/document.ts";

/** What a state word of Slurm means. */
export interface JobState {
	/** Slurm's long form, e.g. `OUT_OF_MEMORY`; the word itself when it is not in the table. */
	readonly name: string;
	readonly status: RunStatus;
	/** May it still hold or get nodes, now or later, by itself? True for an unknown word, so that nothing is submitted twice. */
	readonly live: boolean;
	/** Is it over for good? False for an unknown word, so that nothing is taken for a result. */
	readonly final: boolean;
}

type Meaning = readonly [short: string, status: RunStatus, kind: "live" | "final"];

/** Long form → short form, status, kind. Base states and the flags that squeue and sacct print in their place. */
const TABLE: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
	["PENDING", ["PD", "pending", "live"]],
	["CONFIGURING", ["CF", "pending", "live"]],
	["POWER_UP_NODE", ["PO", "pending", "live"]],
	["EXPEDITING", ["EX", "pending", "live"]],
	["REQUEUED", ["RQ", "pending", "live"]],
	["REQUEUE_FED", ["RF", "pending", "live"]],
	["REQUEUE_HOLD", ["RH", "held", "live"]],
	["RESV_DEL_HOLD", ["RD", "held", "live"]],
	["SPECIAL_EXIT", ["SE", "held", "live"]],
	["RUNNING", ["R", "running", "live"]],
	["SUSPENDED", ["S", "running", "live"]],
	["STOPPED", ["ST", "running", "live"]],
	["RESIZING", ["RS", "running", "live"]],
	["SIGNALING", ["SI", "running", "live"]],
	["COMPLETING", ["CG", "completing", "live"]],
	["STAGE_OUT", ["SO", "completing", "live"]],
	["UPDATE_DB", ["UD", "completing", "live"]],
	["COMPLETED", ["CD", "succeeded", "final"]],
	["CANCELLED", ["CA", "cancelled", "final"]],
	["REVOKED", ["RV", "cancelled", "final"]],
	["FAILED", ["F", "failed", "final"]],
	["OUT_OF_MEMORY", ["OOM", "failed", "final"]],
	["DEADLINE", ["DL", "failed", "final"]],
	["RECONFIG_FAIL", ["RC", "failed", "final"]],
	["TIMEOUT", ["TO", "timeout", "final"]],
	["PREEMPTED", ["PR", "preempted", "final"]],
	["NODE_FAIL", ["NF", "node-fail", "final"]],
	["BOOT_FAIL", ["BF", "node-fail", "final"]],
	["LAUNCH_FAILED", ["LF", "node-fail", "final"]],
]);

/** `CANCELLED by 1000` → `CANCELLED`; `OUT_OF_ME+` (cut to a column) → the one name that starts so. */
function longForm(word: string): string {
	const first = word.trim().split(/\s+/)[0]!.toUpperCase();
	const stem = first.endsWith("+") ? first.slice(0, -1) : first;
	if (TABLE.has(stem)) return stem;
	const matches = [...TABLE].filter(([name, [short]]) =>
		stem === first ? short === first : stem.length > 2 && name.startsWith(stem),
	);
	return matches.length === 1 ? matches[0]![0] : first;
}

/**
 * What a state word means, in any form that squeue or sacct print it.
 * @param reason Slurm's reason: a pending job that is held is `held`
 */
export function jobState(word: string, reason: string | null = null): JobState {
	const name = longForm(word);
	const meaning = TABLE.get(name);
	if (!meaning) return { name, status: "unknown", live: true, final: false };
	const [, status, kind] = meaning;
	const held = name === "PENDING" && reason !== null && /^JobHeld(User|Admin)$/i.test(reason.trim());
	return { name, status: held ? "held" : status, live: kind === "live", final: kind === "final" };
}
