/** What `resumable` stands for. */
import type { ResumableConfig } from "./config.ts";

/** The limits of a chain, `true` spelt out with the defaults; null when the benchmark is not resumable. */
export function resumableLimits(resumable: boolean | ResumableConfig): ResumableConfig | null {
	if (resumable === false) return null;
	return resumable === true ? { max_retries: 3, max_walltime: null } : resumable;
}
