/** Where in the user's files something was called: the lines of a stack trace, read as text. */
import { fileURLToPath } from "node:url";
import type { SourceLocation } from "../src/errors.ts";

/** `at f (/path:1:2)`, `at /path:1:2` or `at async file:///path:1:2`; frames of Node and of evaluated text do not match. */
const FRAME = /^\s*at (?!.*\(eval at )(?:async )?(?:.*? \()?((?:file:\/\/)?\/.*):(\d+):(\d+)\)?$/;

/** Frames kept while a call site is looked for: enough to get out of deep construct libraries. */
const DEPTH = 100;

/** The places that a stack trace names, innermost first. */
export function stackFrames(stack: string): readonly Required<SourceLocation>[] {
	return stack.split("\n").flatMap((text) => {
		const [, path, line, column] = FRAME.exec(text) ?? [];
		if (path === undefined) return [];
		const file = path.startsWith("file://") ? fileURLToPath(path) : path;
		return [{ file, line: Number(line), column: Number(column) }];
	});
}

/** True for a file of the user's own, not of an installed package. */
export function isOwnFile(file: string): boolean {
	return !file.includes("/node_modules/");
}

/**
 * Where the user called `callee` (a class: where its `new` stands), as file and line. Frames of installed
 * packages are skipped, so that a construct made inside a library points at the line that uses the library.
 */
export function callSite(callee: object): SourceLocation | undefined {
	const holder: { stack?: unknown } = {};
	const limit = Error.stackTraceLimit;
	Error.stackTraceLimit = DEPTH;
	try {
		Error.captureStackTrace(holder, callee as (...args: readonly never[]) => unknown);
	} finally {
		Error.stackTraceLimit = limit;
	}
	const frames = stackFrames(String(holder.stack));
	const frame = frames.find(({ file }) => isOwnFile(file)) ?? frames[0];
	return frame && { file: frame.file, line: frame.line };
}
