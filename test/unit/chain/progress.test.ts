import { expect, test } from "vitest";
import { foldRollouts, meanReward, NO_PROGRESS } from "../../../src/chain/progress.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const ROWS = '{"reward":1,"text":"é"}\n{"reward":0}\n{"other":2}\n{"reward":0.5}\n';

test("rollouts and rewards are counted, rows without a reward too", () => {
	const { progress, badLines } = foldRollouts(NO_PROGRESS, bytes(ROWS), 10);
	expect(progress).toEqual({
		done: 4,
		expected: 10,
		rewardSum: 1.5,
		rewardCount: 3,
		rewardSquares: 1.25,
		offset: bytes(ROWS).length,
	});
	expect(badLines).toBe(0);
});

test("cut anywhere, the pieces give what the whole gives", () => {
	const whole = foldRollouts(NO_PROGRESS, bytes(ROWS), null).progress;
	for (let cut = 0; cut <= bytes(ROWS).length; cut++) {
		const first = foldRollouts(NO_PROGRESS, bytes(ROWS).subarray(0, cut), null).progress;
		expect(first.offset).toBeLessThanOrEqual(cut);
		const second = foldRollouts(first, bytes(ROWS).subarray(first.offset), null).progress;
		expect(second).toEqual(whole);
	}
});

test("bad lines are counted and passed over", () => {
	const { progress, badLines } = foldRollouts(
		NO_PROGRESS,
		bytes('nonsense\n[1]\nnull\n\n{"reward":"1"}\n{"reward":1}\n'),
		null,
	);
	expect(badLines).toBe(3);
	expect(progress).toMatchObject({ done: 2, rewardCount: 1, rewardSum: 1 });
});

test("what was expected is kept when nothing new is known", () => {
	const known = { ...NO_PROGRESS, expected: 7 };
	expect(foldRollouts(known, bytes(""), null).progress).toEqual(known);
	expect(foldRollouts(known, bytes(""), 8).progress.expected).toBe(8);
});

test("mean and standard error", () => {
	const { progress } = foldRollouts(
		NO_PROGRESS,
		bytes('{"reward":0}\n{"reward":1}\n{"reward":1}\n{"reward":0}\n'),
		null,
	);
	const reward = meanReward(progress)!;
	expect(reward.mean).toBe(0.5);
	expect(reward.error).toBeCloseTo(Math.sqrt(1 / 3 / 4), 12);
	expect(meanReward(NO_PROGRESS)).toBeNull();
	expect(meanReward({ ...NO_PROGRESS, rewardCount: 1, rewardSum: 1, rewardSquares: 1 })).toEqual({
		mean: 1,
		error: null,
	});
	expect(
		meanReward({ ...NO_PROGRESS, rewardCount: 3, rewardSum: 0.3, rewardSquares: 0.03 })!.error,
	).toBeCloseTo(0, 6);
});
