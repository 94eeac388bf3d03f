/** From one format of the state to the next. */

/** Turns a parsed document of one format version into the next one. */
export type Migration = (older: unknown) => unknown;

/** In order: the first turns format 1 into 2, the next 2 into 3; one fewer than `STATE_VERSION`. */
export const MIGRATIONS: readonly Migration[] = [];

/** Brings a parsed document of format `from` to the newest format. */
export function migrate(document: unknown, from: number, steps: readonly Migration[] = MIGRATIONS): unknown {
	return steps.slice(from - 1).reduce((older, step) => step(older), document);
}
