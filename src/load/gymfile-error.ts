/** What went wrong in a user's gymfile, told by the user's own lines and not by the loader's. */
import { readFileSync } from "node:fs";
import { stackFrames } from "../../constructs/call-site.ts";
import { GymError, type SourceLocation } from "../errors.ts";
import { ExitCalled, NeverSettled } from "./user-code.ts";

/** The loader's words for text that it cannot parse: `ParseError: Unexpected token \n /path:7:12`. */
const PARSE_ERROR = /^ParseError: (.*?)\s*\n\s*(.+):(\d+):(\d+)\s*$/s;

/** Node's and the loader's words for an import that leads nowhere. */
const NOT_FOUND = /^Cannot find (?:module|package) '([^']+)'/;

/** The place in the user's `files` that an error comes from; undefined for one that comes from elsewhere. */
export function ownFrame(error: unknown, files: ReadonlySet<string>): Required<SourceLocation> | undefined {
	const stack = error instanceof Error ? (error.stack ?? "") : "";
	return stackFrames(stack).find((place) => files.has(place.file));
}

/** The error to show for whatever was thrown by the code of `file`; `files` are the user's files that were loaded. */
export function loadError(error: unknown, file: string, files: ReadonlySet<string>): GymError {
	if (GymError.is(error)) return error;
	const message = error instanceof Error ? error.message : String(error);
	const [, what, where, line, column] = PARSE_ERROR.exec(message) ?? [];
	if (what !== undefined && where !== undefined) {
		// The parser counts columns from 0.
		const source = { file: where, line: Number(line), column: Number(column) + 1 };
		const remedy = "correct it there";
		return problem("gymfile-syntax", what.replace(/\.$/, ""), remedy, source, error);
	}
	const frame = ownFrame(error, files);
	const source = frame ? lineOf(frame) : { file };
	const [, missing] = NOT_FOUND.exec(message) ?? [];
	if (missing !== undefined) {
		const said = `cannot find ${JSON.stringify(missing)}, which it imports`;
		const remedy = "install that package beside the gymfile, or correct the path";
		const line = importLine(importer(message) ?? file, missing) ?? source;
		return problem("gymfile-threw", said, remedy, line, error);
	}
	if (error instanceof ExitCalled) {
		const remedy = "throw an error, or return: the command decides how it ends";
		return problem("gymfile-exit", message, remedy, source, error);
	}
	if (error instanceof NeverSettled) {
		const remedy = "look for an await whose promise is never resolved";
		return problem("gymfile-unsettled", message, remedy, source, error);
	}
	const name = error instanceof Error && error.name !== "Error" ? `${error.name}: ` : "";
	const remedy = frame
		? "correct that line; --debug shows what called it"
		: "--debug shows what there is to know";
	return problem("gymfile-threw", `${name}${message}`, remedy, source, error);
}

function problem(
	code: string,
	message: string,
	remedy: string,
	source: SourceLocation,
	cause: unknown,
): GymError {
	return new GymError("invalid", { code, severity: "error", at: "", message, remedy, source }, { cause });
}

function lineOf({ file, line }: Required<SourceLocation>): SourceLocation {
	return { file, line };
}

/** The file that asked for a missing module, from the message's `Require stack`. */
function importer(message: string): string | undefined {
	return /\n- (\/.+)/.exec(message)?.[1];
}

/** The line of a file that names a module in quotes. */
function importLine(file: string, module: string): SourceLocation | undefined {
	try {
		const lines = readFileSync(file, "utf8").split("\n");
		const index = lines.findIndex((text) => text.includes(`"${module}"`) || text.includes(`'${module}'`));
		return index < 0 ? { file } : { file, line: index + 1 };
	} catch {
		return undefined;
	}
}
