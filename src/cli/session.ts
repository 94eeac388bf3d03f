/** What a command gets to work with: its command line, this process, and the way to the outside. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { fail } from "../errors.ts";
import type { Stack } from "../io.ts";
import type { Loaded, LoadedStack } from "../load/stacks.ts";
import type { UserCode } from "../load/user-code.ts";
import { listOption, type Parsed, textOption } from "./options.ts";
import { makeView } from "./output.ts";
import type { View } from "./views/view.ts";

/** Everything that is not the engine's: text in and out, the user, the process. */
export interface Session {
	readonly args: readonly string[];
	readonly options: Parsed;
	readonly env: NodeJS.ProcessEnv;
	/** After `-chdir`. */
	readonly directory: string;
	/** Is there a person to ask? */
	readonly interactive: boolean;
	/** Aborted by the first Ctrl-C. */
	readonly signal: AbortSignal;
	readonly out: (text: string) => void;
	readonly err: (text: string) => void;
	/** Runs the gymfile's code. */
	readonly userCode: Pick<UserCode, "run">;
	/** Asks one line; null at the end of input. */
	readonly ask: (question: string) => Promise<string | null>;
	/** What commands say goes through here; one for the whole process. */
	readonly view: () => View;
	/** A cluster is about to be contacted. */
	readonly noteContact: () => void;
	/** Was one? */
	readonly contacted: () => boolean;
}

/** Folder for caches; what is in it may go at any time. */
function cacheDirectory(env: NodeJS.ProcessEnv): string {
	return join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "gymfile");
}

function contextOf(options: Parsed): Record<string, string> {
	const context: Record<string, string> = Object.create(null);
	for (const pair of listOption(options, "context")) {
		const at = pair.indexOf("=");
		if (at < 1) throw fail("invalid", "bad-flags", `-c ${pair} is not KEY=VALUE`, "write -c key=value");
		context[pair.slice(0, at)] = pair.slice(at + 1);
	}
	return context;
}

/** Loads what the command line names. With `-offline`, or where no value is needed, a missing `host:` variable is a note. */
export async function load(session: Session, needs: { readonly hostValues: boolean }): Promise<Loaded> {
	const { options, env } = session;
	const override = session.args.find((arg) => /^[+~]|=/.test(arg));
	if (override !== undefined) {
		throw fail(
			"invalid",
			"not-yet",
			`overrides on the command line (${override}) are not supported yet`,
			"write the value into the file",
		);
	}
	const { loadStacks } = await import("../load/stacks.ts");
	const yaml = textOption(options, "file");
	const gymfile = textOption(options, "gymfile");
	if (yaml !== undefined && gymfile !== undefined) {
		throw fail("invalid", "bad-flags", "-f and --gymfile name two sources", "give one of them");
	}
	const stackName = textOption(options, "stack");
	return loadStacks({
		directory: session.directory,
		...(yaml === undefined ? {} : { yaml }),
		...(gymfile === undefined ? {} : { gymfile }),
		...(stackName === undefined ? {} : { stackName }),
		context: contextOf(options),
		cacheDirectory: cacheDirectory(env),
		userCode: session.userCode,
		hostEnv: (name) => env[name],
		missingHost: options.offline === true || !needs.hostValues ? "note" : "error",
	});
}

/** Loads and validates the stacks that the arguments name; all of them without arguments. */
export async function loadValid(
	session: Session,
	names: readonly string[],
): Promise<{ root: string; stacks: readonly Stack[] }> {
	const loaded = await load(session, { hostValues: true });
	const { validStacks } = await import("../load/stacks.ts");
	return { root: loaded.root, stacks: validStacks(loaded, names) };
}

/** One stack, when a command can only show one. @throws GymError exit `invalid`, code `stack-needed` */
export function onlyStack(stacks: readonly LoadedStack[]): LoadedStack {
	const [stack, ...more] = stacks;
	if (stack && more.length === 0) return stack;
	const names = stacks.map(({ name }) => name).join(", ");
	throw fail("invalid", "stack-needed", "there are several stacks", `name one: ${names}`);
}

/** What a session of the running process is made from. */
export interface SessionParts {
	readonly args: readonly string[];
	readonly options: Parsed;
	readonly signal: AbortSignal;
	readonly userCode: Pick<UserCode, "run">;
	/** Writes to stdout. */
	readonly out: (text: string) => void;
}

/** A session of the running process. */
export function processSession({ args, options, signal, userCode, out }: SessionParts): Session {
	const { env, stdin, stdout, stderr } = process;
	let view: View | null = null;
	let contacted = false;
	const err = (text: string) => void stderr.write(text);
	const session: Session = {
		args,
		options,
		env,
		directory: resolve(textOption(options, "chdir") ?? "."),
		interactive: Boolean(stdin.isTTY && stdout.isTTY) && !env.CI,
		signal,
		out,
		err,
		userCode,
		async ask(question) {
			const say = options.json === true ? err : out;
			const output = new Writable({
				write(chunk: Buffer, _encoding, done) {
					say(chunk.toString());
					done();
				},
			});
			const reader = createInterface({ input: stdin, output, terminal: true });
			// The terminal is in raw mode here: Ctrl-C comes as a key.
			reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
			try {
				return await reader.question(question, { signal });
			} catch {
				return null;
			} finally {
				reader.close();
			}
		},
		view() {
			view ??= makeView(session);
			return view;
		},
		noteContact() {
			contacted = true;
		},
		contacted: () => contacted,
	};
	return session;
}
