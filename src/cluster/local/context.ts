/** What every operation of the local scheduler works with. */
import type { Host } from "../../../state/host.ts";
import type { Points } from "../../points.ts";
import type { Environment } from "./environment.ts";

export interface LocalContext {
	/** Absolute; its registry is the queue. */
	readonly outputPath: string;
	readonly host: Host;
	readonly points: Points;
	/** The submitting shell's environment, which becomes the job's. */
	readonly env: Environment;
	/** Path of the bundled supervisor program. */
	readonly supervisor: string;
	/** This machine's clock. */
	readonly now: () => Date;
}

/** How messages call the place where local jobs run. */
export const LABEL = "this machine";
