/** Collects findings as problems with their position in the user's file. */
import type { Problem } from "../../errors.ts";
import type { SourceMap } from "../config.ts";
import { type Path, pathText } from "../path.ts";
import type { Report } from "./report.ts";

/** Adds to a problem where the user wrote the thing at `path`. */
export function withSource(problem: Problem, path: Path, sources: SourceMap | undefined): Problem {
	return { ...problem, ...sources?.locate(path) };
}

/** A report function and the list it fills. */
export function collector(sources?: SourceMap): {
	readonly report: Report;
	readonly problems: readonly Problem[];
} {
	const problems: Problem[] = [];
	const report: Report = (severity, code, path, message, remedy) => {
		const problem = {
			code,
			severity,
			at: pathText(path),
			message,
			...(remedy === undefined ? {} : { remedy }),
		};
		problems.push(withSource(problem, path, sources));
	};
	return { report, problems };
}
