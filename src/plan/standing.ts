/** What the status of a run means to a plan, one table. */
import type { RunStatus } from "../../state/document.ts";
import type { Reason } from "./plan.ts";

/** What a status means for an unchanged job: submit again, leave alone, or the reason why a person decides. */
export type Standing = "unfinished" | "settled" | Reason;

/** By status. */
export const STANDING: Readonly<Record<RunStatus, Standing>> = {
	submitting: "unfinished",
	held: "unfinished",
	refused: "unfinished",
	pending: "settled",
	running: "settled",
	completing: "settled",
	succeeded: "settled",
	failed: "failed",
	timeout: "timed-out",
	cancelled: "cancelled",
	preempted: "preempted",
	"node-fail": "node-failed",
	stopped: "stopped",
	unknown: "lost",
};
