/** Validates a submit document: form, then derived values, then the rules across fields. */
import type { Problem } from "../errors.ts";
import type { SourceMap, SubmitConfig } from "./config.ts";
import { submitJsonSchema } from "./json-schema.ts";
import { documentRules } from "./rules/all.ts";
import { collector, withSource } from "./rules/collect.ts";
import type { HostEnv } from "./rules/environment.ts";
import { documentSchema } from "./schema/document.ts";
import { knownKeys } from "./schema/known-keys.ts";
import { schemaProblems } from "./schema/problems.ts";
import { fillDocument, wirePolicy } from "./wiring.ts";

/** What validation needs to know from outside the document. */
export interface ValidateOptions {
	/** Where things were written; problems carry it. */
	readonly sources?: SourceMap;
	/** Reads a variable of the submitting shell. */
	readonly hostEnv: HostEnv;
	/** How bad an unset `host:` variable is: a note where nothing will be submitted (`-offline`). */
	readonly missingHost: "error" | "note";
}

/** A validated document, or null when there are errors; and everything found. */
export interface Validation {
	readonly config: SubmitConfig | null;
	readonly problems: readonly Problem[];
}

/** Local jobs are processes: their services need no container. */
function isLocal(raw: unknown): boolean {
	const compute = raw instanceof Map ? raw.get("compute") : undefined;
	if (!(compute instanceof Map)) return false;
	return [...compute.values()].some((entry) => entry instanceof Map && entry.get("type") === "local");
}

/**
 * Validates the raw tree (a `Map` for every mapping) of a YAML file or of constructs. All problems are
 * found: those of form together, and when there are none, those of all rules together. Never throws for
 * what a user may have written, and no problem shows a value of `env`.
 */
export function validateDocument(raw: unknown, options: ValidateOptions): Validation {
	const parsed = documentSchema(isLocal(raw) ? "optional" : "required").safeParse(raw, { reportInput: true });
	if (!parsed.success) {
		const located = schemaProblems(parsed.error, (path) => knownKeys(submitJsonSchema(), raw, path));
		return {
			config: null,
			problems: located.map(({ problem, path }) => withSource(problem, path, options.sources)),
		};
	}
	const config = fillDocument(parsed.data);
	const { report, problems } = collector(options.sources);
	for (const rule of documentRules(options.hostEnv, options.missingHost)) rule(config, report);
	const refused = problems.some(({ severity }) => severity === "error");
	return { config: refused ? null : wirePolicy(config), problems };
}
