/**
 * The one error base. Everything that can go wrong for a user is a `Problem`; a command that cannot
 * go on throws one `GymError` that holds all of them. Exit codes are mapped here and nowhere else.
 */

/** Exit codes of the command line (spec: "Command line"). */
export const EXIT = {
	ok: 0,
	failure: 1,
	changes: 2,
	invalid: 3,
	refused: 4,
	locked: 5,
	stale: 6,
	declined: 7,
	unreachable: 8,
	timedOut: 9,
	bug: 70,
	interrupted: 130,
	terminated: 143,
} as const;

/** Name of an exit code. */
export type ExitName = keyof typeof EXIT;

/** A place in a file that a person wrote. Lines and columns count from 1. */
export interface SourceLocation {
	readonly file: string;
	readonly line?: number;
	readonly column?: number;
}

/** One thing that is wrong (or, as a warning, dubious): what, where, and what to do. */
export interface Problem {
	/** Stable kebab-case code, e.g. `pool-unknown`. */
	readonly code: string;
	readonly severity: "error" | "warning" | "note";
	/** Path in the submit document, e.g. `services.policy.node_pool`; empty when it is not about the document. */
	readonly at: string;
	/** What is wrong, one sentence, no trailing full stop. */
	readonly message: string;
	/** What to do about it. */
	readonly remedy?: string;
	/** Where the user wrote it. */
	readonly source?: SourceLocation;
	/** Construct path, e.g. `math/policy`. */
	readonly construct?: string;
}

const BRAND = Symbol.for("gymfile.error");

/** Thrown when a command cannot go on. Carries every problem found, never only the first. */
export class GymError extends Error {
	readonly exit: ExitName;
	readonly problems: readonly Problem[];

	constructor(exit: ExitName, problems: readonly Problem[] | Problem, options?: { cause?: unknown }) {
		const list = Array.isArray(problems) ? (problems as readonly Problem[]) : [problems as Problem];
		super(list.map((p) => `${p.code}: ${p.at ? `${p.at}: ` : ""}${p.message}`).join("\n"), options);
		this.name = "GymError";
		this.exit = exit;
		this.problems = list;
		Object.defineProperty(this, BRAND, { value: true });
	}

	/** Recognises an error of ours, also one from a second copy of this package. */
	static is(value: unknown): value is GymError {
		return typeof value === "object" && value !== null && BRAND in value;
	}

	/** The number that the process exits with. */
	get exitCode(): number {
		return EXIT[this.exit];
	}
}

/** Shorthand for one error that is not about a place in the document. */
export function fail(
	exit: ExitName,
	code: string,
	message: string,
	remedy?: string,
	cause?: unknown,
): GymError {
	const problem: Problem = { code, severity: "error", at: "", message, ...(remedy ? { remedy } : {}) };
	return new GymError(exit, problem, cause === undefined ? undefined : { cause });
}
