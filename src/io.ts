/** What the engine works on and what it reaches outside. Types only. */
import type { ClusterRef } from "../state/document.ts";
import type { StateStore } from "../state/store.ts";
import type { Scheduler } from "./cluster/scheduler.ts";
import type { Problem } from "./errors.ts";
import type { Points } from "./points.ts";
import type { SourceMap, SubmitConfig } from "./submit/config.ts";

/** What the engine may do to a benchmark: a changed job leaves a live run and refuses the plan, or replaces it. */
export interface Lifecycle {
	readonly onChange: "refuse" | "replace";
	/** Time limits in a row that a resumable benchmark may reach without progress; null is any number. */
	readonly noProgressLimit: number | null;
}

/** A validated stack, from either front end. */
export interface Stack {
	readonly name: string;
	/** Absolute folder of the gymfile or submit document: a local compute's output path may be relative to it. */
	readonly root: string;
	readonly config: SubmitConfig;
	readonly sources: SourceMap;
	/** What the engine may do to a benchmark; not part of the submit document. A submit YAML cannot say any of it. */
	readonly lifecycle: ReadonlyMap<string, Lifecycle>;
	/** Warnings and notes of validation. */
	readonly problems: readonly Problem[];
}

/** All that the engine reaches outside. */
export interface Io {
	readonly store: StateStore;
	/** The scheduler of a cluster; the caller closes it. */
	readonly scheduler: (cluster: ClusterRef) => Scheduler;
	/** A variable of the submitting shell. */
	readonly hostEnv: (name: string) => string | undefined;
	/** This machine's clock: only the names of run directories come from it. */
	readonly now: () => Date;
	readonly randomHex: (bytes: number) => string;
	readonly points: Points;
	/** Version of this program. */
	readonly version: string;
	/** Aborted by the first Ctrl-C: the step in hand is finished and recorded, nothing new is begun. */
	readonly signal: AbortSignal;
}
