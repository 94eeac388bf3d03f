/**
 * The user's code runs inside this process, and can do more than return or throw: write to stdout, exit, wait for
 * ever, throw where nobody waits. None of it may end, silence or garble the command.
 */
import { fail, type GymError } from "../errors.ts";

/** How to tell what user code did. */
export interface UserCodeOrigin {
	/** The error to show for whatever it threw; one of ours as it is. */
	readonly explain: (error: unknown) => GymError;
	/** Was it thrown by this code? Asked about errors that nobody caught after the run was over. */
	readonly owns: (error: unknown) => boolean;
}

export interface UserCode {
	/**
	 * Runs user code to its end. The working directory is the same afterwards.
	 * @throws GymError as `explain` has it: what it threw, also where only the process saw it, `ExitCalled`,
	 * `NeverSettled`; code `interrupted` when a signal came
	 */
	run<Result>(origin: UserCodeOrigin, work: () => Promise<Result>): Promise<Result>;
	/** What it threw after its run was over; by then the command works on data, and goes on. */
	late(): readonly GymError[];
}

/** Thrown in the place of an exit. */
export class ExitCalled extends Error {
	constructor(code: unknown) {
		super(`it called process.exit(${code === undefined ? "" : String(code)})`);
	}
}

/** User code waits, and nothing is left in the process that could end that. */
export class NeverSettled extends Error {
	constructor() {
		super("it waits for a promise that nothing settles");
	}
}

/** A run that has not ended. */
interface Running {
	readonly reject: (error: unknown) => void;
}

/**
 * Watches this process until it ends: what is written to `process.stdout` goes to stderr (the command itself writes
 * with the function that it took before), `process.exit` throws, and errors that nobody caught come here.
 * @param options `signal` ends a run that waits; `bug` gets the errors that are not the user code's
 */
export function watchUserCode(options: {
	readonly signal: AbortSignal;
	readonly bug: (error: unknown) => void;
}): UserCode {
	const { signal, bug } = options;
	const late: GymError[] = [];
	let origin: UserCodeOrigin | null = null;
	let running: Running | null = null;
	// What ended the run: the same error may arrive again on another way.
	let told: { readonly error: unknown } | null = null;

	const uncaught = (error: unknown) => {
		if (told !== null && told.error === error) return;
		told = { error };
		if (running) running.reject(error);
		else if (origin?.owns(error)) late.push(origin.explain(error));
		else bug(error);
	};
	process.on("uncaughtException", uncaught);
	process.on("unhandledRejection", uncaught);
	process.on("beforeExit", () => running?.reject(new NeverSettled()));
	signal.addEventListener("abort", () => running?.reject(interrupted()));
	process.exit = (code) => {
		const error = new ExitCalled(code);
		uncaught(error);
		throw error;
	};
	process.stdout.write = process.stderr.write.bind(process.stderr);

	return {
		async run(from, work) {
			const folder = process.cwd();
			const stopped = new Promise<never>((_, reject) => {
				running = { reject };
			});
			origin = from;
			try {
				if (signal.aborted) throw interrupted();
				return await Promise.race([settled(work), stopped]);
			} catch (error) {
				told = { error };
				throw from.explain(error);
			} finally {
				running = null;
				process.chdir(folder);
			}
		},
		late: () => late,
	};
}

/** The result, a turn of the event loop later: by then the process has told of rejections that nobody handles. */
async function settled<Result>(work: () => Promise<Result>): Promise<Result> {
	const result = await work();
	await new Promise((resolve) => setImmediate(resolve));
	return result;
}

function interrupted(): GymError {
	return fail("interrupted", "interrupted", "stopped while the gymfile was loaded; nothing was changed");
}
