/** What a cross-field rule is given to say what it found. */
import type { Problem } from "../../errors.ts";
import type { SubmitConfig } from "../config.ts";
import type { Path } from "../path.ts";

/** Takes one finding of a rule. */
export type Report = (
	severity: Problem["severity"],
	code: string,
	path: Path,
	message: string,
	remedy?: string,
) => void;

/** One rule: looks at the filled-in document (without the policy's keys in `run`) and reports what is wrong. */
export type Rule = (config: SubmitConfig, report: Report) => void;
