/** Validates a submit document: form, then derived values, then the rules across fields. */
import type { Problem } from "../errors.ts";
import type { SourceMap, SubmitConfig } from "./config.ts";
import { submitJsonSchema } from "./json-schema.ts";
import { documentRules } from "./rules/all.ts";
import { collector, withSource } from "./rules/collect.ts";
import type { HostEnv } from "./rules/environment.ts";
import { documentSchema, type ParsedDocument } from "./schema/document.ts";
import { knownKeys } from "./schema/known-keys.ts";
import { type Located, schemaProblems } from "./schema/problems.ts";
import { soundPart } from "./sound-part.ts";
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

/** The malformed places of a document, and what can be judged by rules: all of it, its sound part, or nothing. */
function checkForm(raw: unknown): {
	readonly malformed: readonly Located[];
	readonly document: ParsedDocument | null;
	readonly leftOut: ReadonlySet<string>;
} {
	const schema = documentSchema(isLocal(raw) ? "optional" : "required");
	const whole = schema.safeParse(raw, { reportInput: true, jitless: true });
	if (whole.success) return { malformed: [], document: whole.data, leftOut: new Set() };
	const malformed = schemaProblems(whole.error, (path) => knownKeys(submitJsonSchema(), raw, path));
	const paths = malformed.map(({ path }) => path);
	const part = raw instanceof Map ? soundPart(raw, paths) : null;
	const document = part === null ? null : (schema.safeParse(part.raw, { jitless: true }).data ?? null);
	return { malformed, document, leftOut: part?.leftOut ?? new Set() };
}

/**
 * Validates the raw tree (a `Map` for every mapping) of a YAML file or of constructs. All problems are found
 * at once: those of form, and those of the rules across fields in everything that is well formed. Never throws
 * for what a user may have written, and no problem shows a value of `env`.
 */
export function validateDocument(raw: unknown, options: ValidateOptions): Validation {
	const { sources, hostEnv, missingHost } = options;
	const { malformed, document, leftOut } = checkForm(raw);
	const config = document && fillDocument(document);
	const { report, problems: found } = collector(sources);
	if (config) for (const rule of documentRules(hostEnv, missingHost, leftOut)) rule(config, report);
	const problems = [...malformed.map(({ problem, path }) => withSource(problem, path, sources)), ...found];
	const refused = problems.some(({ severity }) => severity === "error");
	return { config: refused || config === null ? null : wirePolicy(config), problems };
}
