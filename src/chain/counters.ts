/** What a chain has used up, from the files that its segments keep. Pure. */
import * as z from "zod";
import type { ChainLimits, ChainRecord } from "../../state/document.ts";
import { CHAIN_FILES } from "../cluster/scheduler.ts";

const [BUDGET, RETRIES, WALLTIME, IDLE] = CHAIN_FILES;

/** Before anything was used. */
export const UNUSED: ChainRecord = { retries: 0, walltime: 0, idle: 0, budget: null };

const limit = z.int().min(0);

const budgetSchema = z.object({
	max_retries: limit,
	max_walltime: limit.nullable(),
	no_progress: limit.nullable(),
});

/**
 * The record of a chain; null when there is none of its files, as beside a job that is not resumable.
 * @param files text by file name
 */
export function readChain(files: ReadonlyMap<string, string>): ChainRecord | null {
	if (!CHAIN_FILES.some((name) => files.has(name))) return null;
	const number = (name: string) => {
		const text = files.get(name)?.trim() ?? "";
		return /^\d{1,15}$/.test(text) ? Number(text) : 0;
	};
	return {
		retries: number(RETRIES),
		walltime: number(WALLTIME),
		idle: number(IDLE),
		budget: readBudget(files.get(BUDGET)),
	};
}

function readBudget(text: string | undefined): ChainLimits | null {
	try {
		const { max_retries, max_walltime, no_progress } = budgetSchema.parse(JSON.parse(text ?? ""));
		return { maxRetries: max_retries, maxWalltime: max_walltime, noProgress: no_progress };
	} catch {
		return null;
	}
}
