import { expect } from "vitest";
import { type ExitName, GymError } from "../../../../src/errors.ts";

/** The error of `action`, which must be ours, with that exit and code in every problem. */
export async function problemOf(action: () => unknown, exit: ExitName, code: string): Promise<GymError> {
	const error = await Promise.resolve()
		.then(action)
		.then(
			() => null,
			(thrown: unknown) => thrown,
		);
	if (!GymError.is(error)) throw new Error(`expected a GymError ${code}, got ${error}`);
	expect(error.problems.map((problem) => problem.code)).toEqual(error.problems.map(() => code));
	expect(error.exit).toBe(exit);
	return error;
}
