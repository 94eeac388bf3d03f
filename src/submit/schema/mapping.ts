/** Mappings of the document. The raw tree has a `Map` for each; users' mappings stay `Map`s, ours become objects. */
import * as z from "zod";
import type { Value } from "../config.ts";
import { isVariableName, parseEnvValue } from "../env-value.ts";
import { asNumber, isFloat } from "../float.ts";
import { checked } from "./issue.ts";
import { mountProblem } from "./mount.ts";
import { text } from "./scalar.ts";

/** A `Map` as an object with the same keys (also `__proto__`, as a name only); nothing else is an object then. */
export function asObject(value: unknown): unknown {
	return value instanceof Map ? Object.fromEntries(value) : asNumber(value);
}

/** A mapping with exactly these keys. */
export function struct<Shape extends z.core.$ZodShape>(shape: Shape) {
	return z.preprocess(asObject, z.strictObject(shape));
}

/** A mapping whose keys are the user's own names. */
export function named<S extends z.ZodType>(value: S) {
	return z.map(z.string(), value);
}

const isValue = (value: unknown): value is Value => {
	if (value instanceof Map)
		return [...value].every(([key, item]) => typeof key === "string" && isValue(item));
	if (Array.isArray(value)) return value.every(isValue);
	return value === null || isFloat(value) || ["boolean", "number", "string"].includes(typeof value);
};

/** A free value of `run` and `prepare`. */
const free = z.custom<Value>(isValue, "expected text, a number, true, false, null, a list or a mapping");

/** `run` and `prepare`: what Gym's own configuration takes, checked by Gym's rules and not here. */
export function freeMapping() {
	return named(free).default(() => new Map());
}

const envValue = checked(text(), (value) =>
	parseEnvValue(value)
		? undefined
		: {
				code: "env-prefix",
				message: "the value must be lit:VALUE, host:VAR or runtime:VAR, with VAR a variable name",
				remedy: "for a literal value write lit: in front of it",
			},
);

/** `env`: variable name to `lit:VALUE`, `host:VAR` or `runtime:VAR`. */
export function env() {
	const map = named(envValue).superRefine((entries, context) => {
		for (const name of entries.keys()) {
			if (isVariableName(name)) continue;
			const params = { code: "variable-name", remedy: "letters, digits and _, not starting with a digit" };
			const message = `${JSON.stringify(name)} is not a variable name`;
			context.addIssue({ code: "custom", path: [name], message, params });
		}
	});
	return map
		.default(() => new Map())
		.describe("Environment: each value is lit:VALUE, host:VAR or runtime:VAR");
}

/** `mounts`: Pyxis bind mounts. */
export function mounts() {
	return z
		.array(checked(z.string(), mountProblem))
		.default(() => [])
		.describe("Bind mounts: src, src:dst or src:dst:flags, absolute paths");
}
