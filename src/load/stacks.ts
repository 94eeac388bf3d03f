/** From what the user wrote to validated stacks: `gymfile.ts` or a submit YAML, with equal rights. */
import { readFile } from "node:fs/promises";
import { basename, isAbsolute, relative, resolve } from "node:path";
import { isStackName } from "../../constructs/stack-name.ts";
import { fail, GymError, type Problem, type SourceLocation } from "../errors.ts";
import type { Stack } from "../io.ts";
import type { SourceMap, Value } from "../submit/config.ts";
import { type ValidateOptions, validateDocument } from "../submit/validate.ts";
import { projectRoot } from "./project-root.ts";
import type { UserCode } from "./user-code.ts";

/** Where the stacks come from. */
export interface StackRequest {
	/** Folder that relative paths start from. */
	readonly directory: string;
	/** A submit document instead of a gymfile. */
	readonly yaml?: string;
	/** Default `gymfile.ts`. */
	readonly gymfile?: string;
	/** Name of the stack of a submit document; default its file name without the ending. */
	readonly stackName?: string;
	readonly context: Readonly<Record<string, string>>;
	/** Private folder for the gymfile loader's cache. */
	readonly cacheDirectory: string;
	/** Runs the gymfile's code. */
	readonly userCode: Pick<UserCode, "run">;
	readonly hostEnv: ValidateOptions["hostEnv"];
	readonly missingHost: ValidateOptions["missingHost"];
}

/** A stack before anybody insisted that it is valid. */
export interface LoadedStack {
	readonly name: string;
	/** The raw submit document. */
	readonly raw: ReadonlyMap<string, Value>;
	readonly sources: SourceMap;
	/** Null when there are errors. */
	readonly stack: Stack | null;
	readonly problems: readonly Problem[];
}

/** What was loaded, and the folder beside which `.gym` lies. */
export interface Loaded {
	readonly root: string;
	readonly stacks: readonly LoadedStack[];
}

/** Files are named as the user sees them: from the folder of the command. */
function shown(directory: string, sources: SourceMap): SourceMap {
	return {
		locate(path) {
			const { source, ...rest } = sources.locate(path);
			return source ? { ...rest, source: shownPlace(directory, source) } : rest;
		},
	};
}

function shownPlace(directory: string, source: SourceLocation): SourceLocation {
	return isAbsolute(source.file) ? { ...source, file: relative(directory, source.file) } : source;
}

function shownProblem(directory: string, problem: Problem): Problem {
	return problem.source ? { ...problem, source: shownPlace(directory, problem.source) } : problem;
}

/** The same, with errors whose files are named as the user sees them. */
function shownUserCode({ userCode, directory }: StackRequest): Pick<UserCode, "run"> {
	const shown = (error: GymError) => {
		const problems = error.problems.map((problem) => shownProblem(directory, problem));
		return new GymError(error.exit, problems, { cause: error.cause });
	};
	return {
		run: ({ explain, owns }, work) => userCode.run({ explain: (error) => shown(explain(error)), owns }, work),
	};
}

function finish(
	name: string,
	root: string,
	raw: ReadonlyMap<string, Value>,
	written: SourceMap,
	before: readonly Problem[],
	lifecycle: Stack["lifecycle"],
	request: StackRequest,
): LoadedStack {
	const { directory, hostEnv, missingHost } = request;
	const sources = shown(directory, written);
	// What could not be read whole would only be misjudged.
	const broken = before.some((problem) => problem.severity === "error");
	const { config, problems: found } = broken
		? { config: null, problems: [] }
		: validateDocument(raw, { sources, hostEnv, missingHost });
	const problems = [...before.map((problem) => shownProblem(directory, problem)), ...found];
	const valid = config !== null && !problems.some((problem) => problem.severity === "error");
	return {
		name,
		raw,
		sources,
		problems,
		stack: valid ? { name, root, config, sources, lifecycle, problems } : null,
	};
}

/**
 * Loads every stack; document errors are in the result, so that all of them can be shown.
 * @throws GymError exit `invalid` when the file itself cannot be read or run; code `stack-name`
 */
export async function loadStacks(request: StackRequest): Promise<Loaded> {
	if (request.yaml !== undefined) {
		const file = resolve(request.directory, request.yaml);
		const text = await readFile(file, "utf8").catch((cause: unknown) => {
			throw fail(
				"invalid",
				"file-missing",
				`cannot read ${request.yaml}`,
				"give the path of a submit document",
				cause,
			);
		});
		const name = request.stackName ?? basename(file).replace(/\.ya?ml$/i, "");
		if (!isStackName(name)) {
			const message = `bad stack name ${JSON.stringify(name)}`;
			throw fail("invalid", "stack-name", message, "use letters, digits and . _ -; --stack names it");
		}
		const { loadSubmitYaml } = await import("./submit-yaml.ts");
		const { raw, sources, problems } = loadSubmitYaml(text, request.yaml);
		const root = await projectRoot(file);
		return { root, stacks: [finish(name, root, raw, sources, problems, new Map(), request)] };
	}
	const file = resolve(request.directory, request.gymfile ?? "gymfile.ts");
	const [{ loadGymfile }, { synthApp }] = await Promise.all([
		import("./gymfile.ts"),
		import("../../constructs/synth.ts"),
	]);
	const { result } = await loadGymfile(file, { ...request, userCode: shownUserCode(request) }, synthApp);
	const root = await projectRoot(file);
	const stacks = result.map(({ stack, raw, sources, problems, settings }) =>
		finish(stack, root, raw, sources, problems, settings.benchmarks, request),
	);
	return { root, stacks };
}

/** The stacks that were asked for (all, when none is named). @throws GymError exit `invalid`, code `stack-unknown` */
export function chosenStacks(loaded: Loaded, names: readonly string[]): readonly LoadedStack[] {
	const known = loaded.stacks.map((stack) => stack.name);
	const unknown = names.filter((name) => !known.includes(name));
	if (unknown.length > 0) {
		throw fail(
			"invalid",
			"stack-unknown",
			`no stack ${unknown.join(", ")}`,
			`stacks: ${known.join(", ") || "none"}`,
		);
	}
	return loaded.stacks.filter((stack) => names.length === 0 || names.includes(stack.name));
}

/**
 * The validated ones of the stacks that were asked for (all, when none is named).
 * @throws GymError exit `invalid` with every problem of every stack asked for; code `stack-unknown`
 */
export function validStacks(loaded: Loaded, names: readonly string[]): readonly Stack[] {
	const chosen = chosenStacks(loaded, names);
	const problems = chosen.flatMap((stack) => (stack.stack ? [] : stack.problems));
	if (problems.length > 0) throw new GymError("invalid", problems);
	return chosen.map((stack) => stack.stack!);
}
