/** What went wrong in a user's gymfile, told by the user's own lines and not by the loader's. */
import { readFileSync } from "node:fs";
import { stackFrames } from "../../constructs/call-site.ts";
import { GymError, type SourceLocation } from "../errors.ts";

/** The loader's words for text that it cannot parse: `ParseError: Unexpected token \n /path:7:12`. */
const PARSE_ERROR = /^ParseError: (.*?)\s*\n\s*(.+):(\d+):(\d+)\s*$/s;

/** Node's and the loader's words for an import that leads nowhere. */
const NOT_FOUND = /^Cannot find (?:module|package) '([^']+)'/;

/** The error to show for whatever was thrown while `file` ran; `files` are the user's files that were loaded. */
export function loadError(error: unknown, file: string, files: ReadonlySet<string>): GymError {
	const message = error instanceof Error ? error.message : String(error);
	const stack = error instanceof Error ? (error.stack ?? "") : "";
	const [, what, where, line, column] = PARSE_ERROR.exec(message) ?? [];
	if (what !== undefined && where !== undefined) {
		// The parser counts columns from 0.
		const source = { file: where, line: Number(line), column: Number(column) + 1 };
		return problem("gymfile-syntax", what.replace(/\.$/, ""), source, error);
	}
	const frame = stackFrames(stack).find((place) => files.has(place.file));
	const [, missing] = NOT_FOUND.exec(message) ?? [];
	if (missing !== undefined) {
		const source = importLine(importer(message) ?? file, missing) ?? frame ?? { file };
		return problem(
			"gymfile-threw",
			`cannot find ${JSON.stringify(missing)}, which it imports`,
			source,
			error,
		);
	}
	const name = error instanceof Error && error.name !== "Error" ? `${error.name}: ` : "";
	return problem("gymfile-threw", `${name}${message}`, frame ? lineOf(frame) : { file }, error);
}

function problem(code: string, message: string, source: SourceLocation, cause: unknown): GymError {
	return new GymError("invalid", { code, severity: "error", at: "", message, source }, { cause });
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
