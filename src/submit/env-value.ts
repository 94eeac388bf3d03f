/** The three forms of an `env` value: `lit:VALUE`, `host:VAR`, `runtime:VAR`. */

/** Where a variable's value comes from. */
export type EnvValue =
	/** The value itself. */
	| { readonly kind: "lit"; readonly value: string }
	/** A variable of the submitting shell, read when the document is submitted. */
	| { readonly kind: "host"; readonly name: string }
	/** A variable of the job's environment, read when the step starts. */
	| { readonly kind: "runtime"; readonly name: string };

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether a shell can hold a variable of this name. */
export function isVariableName(name: string): boolean {
	return VARIABLE.test(name);
}

/**
 * Reads the text of an `env` value; null when it has none of the three prefixes, or `host:` and `runtime:`
 * are not followed by a variable name. Only the first prefix counts: `lit:host:X` is the text `host:X`.
 */
export function parseEnvValue(text: string): EnvValue | null {
	const colon = text.indexOf(":");
	const prefix = text.slice(0, colon);
	const rest = text.slice(colon + 1);
	if (prefix === "lit") return { kind: "lit", value: rest };
	if ((prefix === "host" || prefix === "runtime") && isVariableName(rest))
		return { kind: prefix, name: rest };
	return null;
}
