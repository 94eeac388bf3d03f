/** Values of `env`: where each comes from has to be said, a plain string does not compile. */

const ENV_VALUE: unique symbol = Symbol.for("gymfile.env-value");

/** A value of `env`, made by {@link lit}, {@link host} or {@link runtime}. */
export interface EnvValue {
	/** As the document writes it: `lit:VALUE`, `host:VAR` or `runtime:VAR`. */
	readonly [ENV_VALUE]: string;
}

function envValue(text: string): EnvValue {
	return Object.freeze({ [ENV_VALUE]: text });
}

/** The literal `value`, byte for byte: nothing in it is expanded. */
export function lit(value: string): EnvValue {
	return envValue(`lit:${value}`);
}

/**
 * The value that the variable `name` has in the shell that submits. It must be set there. The document, the
 * plan and the state hold only the reference, never the value.
 */
export function host(name: string): EnvValue {
	return envValue(`host:${name}`);
}

/** The value that the variable `name` has in the job when the step starts; empty when it is not set there. */
export function runtime(name: string): EnvValue {
	return envValue(`runtime:${name}`);
}

/** The document's text of an env value, also of one from a second copy of this package; undefined for anything else. */
export function envText(value: unknown): string | undefined {
	return typeof value === "object" && value !== null ? (value as Partial<EnvValue>)[ENV_VALUE] : undefined;
}
