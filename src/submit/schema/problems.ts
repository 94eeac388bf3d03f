/** Turns the schema's issues into problems at document paths. Values of `env` never appear in one. */
import type { z } from "zod";
import type { Problem } from "../../errors.ts";
import { isFloat } from "../float.ts";
import { didYouMean } from "../nearest.ts";
import { type Path, pathText } from "../path.ts";

type Issue = z.core.$ZodIssue;

/** A problem whose position in the file is still to be looked up. */
export interface Located {
	readonly path: Path;
	readonly problem: Problem;
}

const EXPECTED: Readonly<Record<string, string>> = {
	string: "text",
	int: "a whole number",
	number: "a number",
	boolean: "true or false",
	array: "a list",
	map: "a mapping",
	object: "a mapping",
};

function found(value: unknown, path: Path): string {
	if (value === null) return "nothing (null)";
	if (Array.isArray(value)) return "a list";
	const number = typeof value === "number" || isFloat(value);
	if (typeof value === "object" && !number) return "a mapping";
	const kind = typeof value === "string" ? "text" : number ? "the number" : "the value";
	return path.includes("env")
		? kind.replace(/^the (.*)/, "a $1")
		: `${kind} ${number ? String(value) : JSON.stringify(value)}`;
}

function located(path: Path, code: string, message: string, remedy?: string): Located {
	return {
		path,
		problem: {
			code,
			severity: "error",
			at: pathText(path),
			message,
			...(remedy === undefined ? {} : { remedy }),
		},
	};
}

function wrongType(path: Path, expected: string, input: unknown): Located {
	// An absent key has the input undefined; a raw tree never holds undefined otherwise.
	if (input === undefined) return located(path, "missing", `required, but not given (${expected})`);
	const scalar = typeof input !== "object" || isFloat(input);
	const quote = expected === "text" && scalar ? "put it in quotes" : undefined;
	return located(path, "wrong-type", `expected ${expected}, found ${found(input, path)}`, quote);
}

/** A union without a discriminator: the branch that failed below its root was meant, else none fits. */
function union(
	issue: Extract<Issue, { code: "invalid_union" }>,
	path: Path,
	keys: KnownKeys,
): readonly Located[] {
	const meant = issue.errors.find(
		(branch) => !branch.some((i) => i.path.length === 0 && i.code === "invalid_type"),
	);
	if (meant) return meant.flatMap((inner) => fromIssue(inner, path, keys));
	const kinds = issue.errors.flatMap((branch) =>
		branch.map((i) => ("expected" in i ? String(i.expected) : "")),
	);
	return [wrongType(path, kinds.map((kind) => EXPECTED[kind] ?? kind).join(" or "), issue.input)];
}

/** The keys that the schema knows at a path. */
export type KnownKeys = (path: Path) => readonly string[];

function fromIssue(issue: Issue, above: Path, keys: KnownKeys): readonly Located[] {
	const path: Path = [...above, ...(issue.path as (string | number)[])];
	switch (issue.code) {
		case "invalid_type":
			return [wrongType(path, EXPECTED[issue.expected] ?? issue.expected, issue.input)];
		case "unrecognized_keys":
			return issue.keys.map((key) =>
				located([...path, key], "unknown-key", "unknown field", didYouMean(key, keys(path))),
			);
		case "too_small":
		case "too_big": {
			const limit = issue.code === "too_small" ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
			return [located(path, "out-of-range", `must be ${limit}, found ${issue.input}`)];
		}
		case "invalid_value":
			return [choice(path, issue.values.map(String), issue.input)];
		case "invalid_union":
			if (issue.discriminator === undefined) return union(issue, path, keys);
			return [discriminator(issue, issue.discriminator, path)];
		case "custom": {
			const params = issue.params as { code?: string; remedy?: string } | undefined;
			return [located(path, params?.code ?? "wrong-type", issue.message, params?.remedy)];
		}
		default:
			return [located(path, "wrong-type", issue.message)];
	}
}

/** The value of `type` is not one of the kinds; zod lists them, but its types do not say so. */
function discriminator(issue: Extract<Issue, { code: "invalid_union" }>, key: string, path: Path): Located {
	const { options = [] } = issue as { readonly options?: readonly string[] };
	return choice(path, options, (issue.input as Readonly<Record<string, unknown>>)[key]);
}

function choice(path: Path, choices: readonly string[], input: unknown): Located {
	const expected = choices.join(", ");
	if (input === undefined) return located(path, "missing", `required, but not given (${expected})`);
	const near = typeof input === "string" ? didYouMean(input, choices) : undefined;
	return located(path, "unknown-type", `must be one of ${expected}; found ${found(input, path)}`, near);
}

/** Every issue as one or more problems, in the order of the document's schema. */
export function schemaProblems(error: z.ZodError, keys: KnownKeys): readonly Located[] {
	return error.issues.flatMap((issue) => fromIssue(issue, [], keys));
}
