/** What a plan is: plain data, made by pure functions from desired × state × observed. */

import type { ChainLimits, RunRecord, RunStatus, StateDocument } from "../../state/document.ts";
import type { Problem, SourceLocation } from "../errors.ts";

/** What apply would do to one address. Symbols are the plan's own (spec: "Plan"). */
export type ActionKind =
	| "submit" /* + */
	| "adopt" /* = */
	| "resubmit" /* -/+ */
	| "update" /* ~ */
	| "resume" /* > */
	| "cancel" /* - */
	| "decide" /* ! */
	| "none";

/** Actions that queue a job. */
export const QUEUEING: ReadonlySet<ActionKind> = new Set(["submit", "resubmit", "resume"]);

/** Why, as a closed set for `-json`; the text view has a sentence for each. */
export type Reason =
	| "not-in-state"
	| "found" /* not in the state, but on the cluster */
	| "unfinished-submission" /* an earlier apply was stopped half-way, or sbatch refused it */
	| "changed"
	| "replace-requested"
	| "live-chain" /* changed, but a live chain is only replaced on request */
	| "not-in-gymfile"
	| "failed"
	| "cancelled"
	| "timed-out"
	| "preempted"
	| "node-failed"
	| "stopped" /* the chain itself ended it: retries or cap spent, no progress */
	| "limits-changed" /* what a live chain can take up: its limits, the walltime or comment of what is queued */
	| "lost" /* its job is in neither queue nor accounting and left no end record */
	| "other-owner"
	| "unchanged";

/** How much a changed path matters. Unknown paths count as `results`. */
export type ChangeClass = "results" | "speed" | "cosmetic";

/**
 * One changed path of the submit document; numbers are list items. `before`/`after` are undefined where the
 * path does not exist.
 */
export interface Change {
	readonly path: readonly (string | number)[];
	readonly before?: import("../submit/config.ts").Value | undefined;
	readonly after?: import("../submit/config.ts").Value | undefined;
	readonly class: ChangeClass;
	/** Set when only the order of a mapping's keys changed: `before`/`after` are then the lists of keys. */
	readonly order?: true;
	readonly source?: SourceLocation;
}

/** Change of one rendered file as a unified diff; a file that is new or gone is one hunk of all its lines. */
export interface FileDiff {
	readonly file: string;
	/** Lines of a unified diff without the file header; empty when equal. */
	readonly lines: readonly string[];
}

/** Size of the allocation, for the plan's one-line summary and the GPU-hours. */
export interface JobSize {
	readonly nodes: number;
	readonly gpusPerNode: number | null;
	/** Seconds; null is no limit. */
	readonly walltime: number | null;
	/** Seconds a resumable chain may use in all (`max_walltime`); null is no cap; absent when not resumable. */
	readonly chainCap?: number | null;
	readonly partition: string | null;
}

/** One benchmark as the gymfile wants it. */
export interface Desired {
	readonly benchmark: string;
	readonly fingerprint: string;
	/** The validated document as this benchmark's job sees it; plain values, secrets as references. */
	readonly document: ReadonlyMap<string, import("../submit/config.ts").Value>;
	/** Rendered files with the run directory as a placeholder. */
	readonly rendered: Readonly<Record<string, string>>;
	readonly size: JobSize;
	/** Limits of its chain; null when it is not resumable. */
	readonly limits: ChainLimits | null;
	/** `lifecycle.onChange`: "replace" lets a change replace a live chain; absent refuses. */
	readonly onChange?: "replace";
	/** Where a path of the document was written. */
	readonly sources?: import("../submit/config.ts").SourceMap;
}

/** How a run is gone on with. */
export interface GoOn {
	/** A person decided it: the chain goes on however its last job ended. */
	readonly decided: boolean;
	/** What the chain has used up is forgotten. */
	readonly resetCounters: boolean;
}

export interface PlannedAction {
	readonly address: string;
	readonly benchmark: string;
	readonly kind: ActionKind;
	readonly reason: Reason;
	/** The run it is about: what is replaced, cancelled, resumed or needs a decision. */
	readonly run: RunRecord | null;
	readonly desired: Desired | null;
	readonly changes: readonly Change[];
	readonly files: readonly FileDiff[];
	/** Does the job go on with the rollout cache of the earlier run? Null without an earlier run. */
	readonly cacheValid: boolean | null;
	/** The script changed without its meaning (an upgrade of this program). */
	readonly scriptNote: boolean;
	/** Set when a run is gone on with in its directory. */
	readonly goOn?: GoOn;
	/** Set when apply refuses to carry it out (exit 4): what and the way out. */
	readonly refused?: Problem;
}

/** What differs between the last write of the state and what was seen now. */
export interface Drift {
	readonly address: string;
	readonly from: RunStatus;
	readonly to: RunStatus;
	readonly message: string;
}

/** The plan of one stack. */
export interface Plan {
	readonly stack: string;
	/** `lab (login.lab.example, ssh)`; null when the document has no cluster. */
	readonly cluster: string | null;
	/** The user on the cluster; null when it was not asked. */
	readonly user: string | null;
	/** `local`. */
	readonly backend: string;
	readonly lineage: string | null;
	readonly serial: number;
	/** False with `-offline` or `-refresh=false`. */
	readonly refreshed: boolean;
	readonly actions: readonly PlannedAction[];
	/** How many addresses `-target` and `-exclude` left out. */
	readonly leftOut: number;
	readonly drift: readonly Drift[];
	/** Did the look at the cluster show anything that the state does not hold yet? */
	readonly changed: boolean;
	readonly problems: readonly Problem[];
	/** The state after the refresh, what apply starts from. */
	readonly state: StateDocument | null;
}
