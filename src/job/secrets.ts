/**
 * Values of `host:` variables. They are never part of the job script: a file of the benchmark's directory,
 * readable by its owner only, holds them while the chain lives, and the batch script hands them on.
 */
import { GymError } from "../errors.ts";
import type { Job, StepBase } from "./model.ts";
import { quote } from "./script/quote.ts";

/** Linux takes no longer single variable. Validation counts the name too, so only other callers get to see this. */
const LONGEST_VALUE = 128 * 1024;

/** One variable that a step takes from the submitting shell. */
export interface SecretReference {
	/** Its name in the secrets file: step and variable, so two steps may set one name differently. */
	readonly key: string;
	/** Variable of the submitting shell. */
	readonly variable: string;
	/** Document path of the reference. */
	readonly at: string;
}

/** Name under which the secrets file holds a step's variable. A step's word holds no double underscore. */
export function secretName(step: StepBase, name: string): string {
	return `GYM_SECRET_${step.word.toUpperCase()}__${name}`;
}

/** All `host:` references of a job, services first, in the document's order. */
export function secretReferences(job: Job): readonly SecretReference[] {
	return [...job.services, job.driver].flatMap((step) =>
		step.env
			.filter(({ kind }) => kind === "host")
			.map(({ name, value }) => ({
				key: secretName(step, name),
				variable: value,
				at: `${step.at}.env.${name}`,
			})),
	);
}

/**
 * Text of the benchmark's `.env` (mode 0600 from its creation); empty when no step has a secret.
 * @param value the value of a variable of the submitting shell
 * @throws GymError code `secret-unusable` for values that no variable can hold, without showing them
 */
export function secretsFile(job: Job, value: (variable: string) => string): string {
	const references = secretReferences(job).map((reference) => ({
		...reference,
		text: value(reference.variable),
	}));
	const faults = references.flatMap(({ at, variable, text }) => {
		const size = new TextEncoder().encode(text).length;
		const fault = text.includes("\0")
			? "holds a NUL character"
			: size > LONGEST_VALUE
				? `is ${size} bytes long`
				: null;
		return fault === null
			? []
			: [{ at, message: `the value of ${variable} ${fault}, which no variable can be` }];
	});
	if (faults.length > 0) {
		throw new GymError(
			"invalid",
			faults.map((fault) => ({ code: "secret-unusable", severity: "error" as const, ...fault })),
		);
	}
	return references.map(({ key, text }) => `${key}=${quote(text)}\n`).join("");
}
