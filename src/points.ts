/**
 * Named points: every remote exchange, state write and release passes one, so that a test can stop the
 * process exactly there. Production code passes `noPoints`.
 */
export interface Points {
	/** Reached the point. A test's implementation may never return. */
	reach(name: string): Promise<void>;
	/** Remote scripts carry this: the name of a point inside a script at which it kills itself. */
	readonly remote?: string;
}

/** Does nothing. */
export const noPoints: Points = { reach: async () => undefined };
