/** Rules that only count when a job is rendered: what a shell, a mount or a path cannot carry. */
import type { Problem } from "../errors.ts";
import type { SubmitConfig } from "../submit/config.ts";
import type { DriverStep, ServiceStep } from "./model.ts";
import { driverText } from "./script/driver.ts";
import { serviceText } from "./script/steps.ts";

/** Linux takes no longer single argument (128 KiB); a step's script is one, and some room is left. */
const LONGEST_SCRIPT = 120 * 1024;

/** Slurm's usual limit of a script (4 MiB), kept for a benchmark's own command too. */
const LONGEST_COMMAND = 4 * 1024 * 1024;

const bytes = (text: string) => new TextEncoder().encode(text).length;

function error(code: string, at: string, message: string, remedy?: string): Problem {
	return { code, severity: "error", at, message, ...(remedy === undefined ? {} : { remedy }) };
}

/**
 * The output path is part of a directive, of a mount and of Hydra overrides, so it holds no character that
 * one of them reads specially. Spaces are fine.
 */
export function outputPathProblems(path: string): readonly Problem[] {
	const odd = /[\0-\x1f\x7f'"\\,:%`$]/.exec(path)?.[0];
	if (odd === undefined) return [];
	const message = `the path holds ${JSON.stringify(odd)}, which a directive or mount cannot carry`;
	return [error("output-path-character", "job.output_path", message, "choose a path without it")];
}

/** Texts with a NUL character: no argument and no variable can hold one. */
export function nulProblems(config: SubmitConfig): readonly Problem[] {
	const look = (value: unknown, at: string): Problem[] => {
		if (typeof value === "string")
			return value.includes("\0") ? [error("nul", at, "the text holds a NUL character")] : [];
		if (Array.isArray(value)) return value.flatMap((item, i) => look(item, `${at}[${i}]`));
		if (typeof value !== "object" || value === null) return [];
		const entries: Iterable<[unknown, unknown]> = value instanceof Map ? value : Object.entries(value);
		return [...entries].flatMap(([key, item]) => [
			...(String(key).includes("\0") ? [error("nul", at, "a key holds a NUL character")] : []),
			...look(item, at === "" ? String(key) : `${at}.${key}`),
		]);
	};
	return look(config, "");
}

/** A command that is longer than any script should be. */
export function commandProblems(command: string, at: string): readonly Problem[] {
	const size = bytes(command);
	if (size <= LONGEST_COMMAND) return [];
	const message = `the command is ${size} bytes long; ${LONGEST_COMMAND} fit (4 MiB, Slurm's usual limit of a script)`;
	return [error("command-long", at, message, "put it into a file, mount its folder and call it")];
}

/** Steps whose script is too long for an argument. */
export function lengthProblems(services: readonly ServiceStep[], driver: DriverStep): readonly Problem[] {
	const texts = [
		...services.map((step) => ({ at: step.at, text: serviceText(step) })),
		{ at: driver.at, text: driverText(driver) },
	];
	return texts.flatMap(({ at, text }) => {
		const size = bytes(text);
		if (size <= LONGEST_SCRIPT) return [];
		const message = `the step's variables and commands are ${size} bytes long; ${LONGEST_SCRIPT} fit`;
		return [error("step-long", at, message, "put the text into a file and mount its folder")];
	});
}
