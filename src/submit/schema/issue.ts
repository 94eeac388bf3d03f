/** How a schema check names its problem: the stable code and the remedy travel in the issue's `params`. */
import type { z } from "zod";

/** What a failed check says. */
export interface Failure {
	/** Code of the problem, e.g. `bad-duration`. */
	readonly code: string;
	readonly message: string;
	readonly remedy?: string;
}

/** Adds a check to a schema. `find` gives what is wrong with a value of the right type, or undefined. */
export function checked<S extends z.ZodType>(
	schema: S,
	find: (value: z.output<S>) => Failure | undefined,
): S {
	return schema.superRefine((value, context) => {
		const failure = find(value);
		if (failure) context.addIssue({ code: "custom", message: failure.message, params: failure });
	}) as S;
}
