/** `env` of a service or the driver, as typed entries. */
import type { Problem } from "../errors.ts";
import type { Env } from "../submit/config.ts";
import { parseEnvValue } from "../submit/env-value.ts";
import type { EnvEntry } from "./model.ts";

/** Names that bash does not let a script set, or gives a meaning of its own, and those the job script uses. */
const RESERVED =
	/^(BASHOPTS|BASHPID|BASH_ARGC|BASH_ARGV|BASH_ARGV0|BASH_CMDS|BASH_ALIASES|BASH_COMMAND|BASH_LINENO|BASH_SOURCE|BASH_SUBSHELL|BASH_VERSINFO|COMP_WORDBREAKS|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID|FUNCNAME|GROUPS|HISTCMD|LINENO|PIPESTATUS|PPID|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|_|gym_.*|GYM_E[0-9]+|GYM_SECRET_.*)$/;

/** The entries in the document's order; the document was validated, so every value has one of the prefixes. */
export function envEntries(env: Env): readonly EnvEntry[] {
	return [...env].flatMap(([name, text]) => {
		const parsed = parseEnvValue(text);
		if (parsed === null) return [];
		return { name, kind: parsed.kind, value: parsed.kind === "lit" ? parsed.value : parsed.name };
	});
}

/** Variable names that a step cannot be given. */
export function envProblems(env: Env, at: string): readonly Problem[] {
	return [...env.keys()]
		.filter((name) => RESERVED.test(name))
		.map((name) => ({
			code: "env-name-reserved",
			severity: "error",
			at: `${at}.${name}`,
			message: `${name} is set by the shell or the job script itself and would not keep this value`,
			remedy: "use another name",
		}));
}
