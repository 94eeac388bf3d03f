/** Progress of a run from the bytes of its `rollouts.jsonl`. Pure: bytes come in as data. */
import type { Progress } from "../../state/document.ts";

/** Before anything was read. */
export const NO_PROGRESS: Progress = {
	done: 0,
	expected: null,
	rewardSum: 0,
	rewardCount: 0,
	rewardSquares: 0,
	offset: 0,
};

const NEWLINE = 10;

/**
 * Takes in the bytes that follow `before.offset`. Only whole lines count; the rest is read again with the next
 * chunk. A line that is no JSON object is not a rollout: counted in `badLines`, never fatal. Where a row
 * carries no finite number as `reward`, it is a rollout without a reward.
 * @param expected rollouts in all when known now; null keeps what was known
 */
export function foldRollouts(
	before: Progress,
	chunk: Uint8Array,
	expected: number | null,
): { readonly progress: Progress; readonly badLines: number } {
	const end = chunk.lastIndexOf(NEWLINE) + 1;
	const lines = new TextDecoder().decode(chunk.subarray(0, end)).split("\n");
	const rows = lines.filter((line) => line.trim() !== "").map(rowOf);
	const rollouts = rows.filter((row) => row !== null);
	const rewards = rollouts.flatMap((row) => row.reward ?? []);
	const progress: Progress = {
		done: before.done + rollouts.length,
		expected: expected ?? before.expected,
		rewardSum: rewards.reduce((sum, reward) => sum + reward, before.rewardSum),
		rewardCount: before.rewardCount + rewards.length,
		rewardSquares: rewards.reduce((sum, reward) => sum + reward * reward, before.rewardSquares),
		offset: before.offset + end,
	};
	return { progress, badLines: rows.length - rollouts.length };
}

function rowOf(line: string): { readonly reward: number | null } | null {
	try {
		const row: unknown = JSON.parse(line);
		if (typeof row !== "object" || row === null || Array.isArray(row)) return null;
		const reward: unknown = "reward" in row ? row.reward : null;
		return { reward: typeof reward === "number" && Number.isFinite(reward) ? reward : null };
	} catch {
		return null;
	}
}

/** Mean reward and its standard error (null with fewer than two); null when no rollout carries a reward. */
export function meanReward(
	progress: Progress,
): { readonly mean: number; readonly error: number | null } | null {
	const { rewardCount: count, rewardSum: sum, rewardSquares: squares } = progress;
	if (count === 0) return null;
	const mean = sum / count;
	if (count < 2) return { mean, error: null };
	// Rounding can push the variance of equal rewards just below zero.
	const variance = Math.max(0, (squares - count * mean * mean) / (count - 1));
	return { mean, error: Math.sqrt(variance / count) };
}
