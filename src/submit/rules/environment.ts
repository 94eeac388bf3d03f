/** Values of `env`: whether they can be had, passed on, and arrive. */
import type { Env, SubmitConfig } from "../config.ts";
import { parseEnvValue } from "../env-value.ts";
import { onlyCompute } from "../nodes.ts";
import { parts } from "../parts.ts";
import type { Path } from "../path.ts";
import { directiveSets } from "./directive-sets.ts";
import type { Rule } from "./report.ts";

/** Linux' limit for one `NAME=value` with its final NUL. */
const LONGEST_ENTRY = 128 * 1024;

/** Values travel to their step under neutral names of at most this length. */
const NEUTRAL_NAME = 16;

/** Reads a variable of the submitting shell; undefined when it is not set. */
export type HostEnv = (name: string) => string | undefined;

/** Every `env` mapping of the document with its path. */
export function environments(config: SubmitConfig): readonly (readonly [path: Path, env: Env])[] {
	const [name, compute] = onlyCompute(config);
	const local = compute.type === "local" ? [[["compute", name, "env"], compute.env] as const] : [];
	return [...parts(config).map(({ path, part }) => [[...path, "env"], part.env] as const), ...local];
}

/** Variables that `host:` names are set; `missing` says how bad it is when not. Never shows a value. */
export function hostVariablesSet(hostEnv: HostEnv, missing: "error" | "note"): Rule {
	return (config, report) => {
		for (const [path, env] of environments(config)) {
			for (const [key, text] of env) {
				const value = parseEnvValue(text);
				if (value?.kind !== "host" || hostEnv(value.name) !== undefined) continue;
				const message = `the variable ${value.name} is not set here`;
				report(
					missing,
					"host-variable-unset",
					[...path, key],
					message,
					`export ${value.name}, or use runtime:${value.name}`,
				);
			}
		}
	};
}

/** No value is longer than a process can be given. */
export function valuesFit(hostEnv: HostEnv): Rule {
	return (config, report) => {
		for (const [path, env] of environments(config)) {
			for (const [key, text] of env) {
				const value = parseEnvValue(text);
				const given =
					value?.kind === "lit" ? value.value : value?.kind === "host" ? (hostEnv(value.name) ?? "") : "";
				const bytes = Math.max(key.length, NEUTRAL_NAME) + new TextEncoder().encode(`=${given}\0`).length;
				if (bytes <= LONGEST_ENTRY) continue;
				const message = `the value is too long: ${bytes} bytes with its name, Linux takes ${LONGEST_ENTRY}`;
				report("error", "env-value-too-long", [...path, key], message, "put it in a file and give its path");
			}
		}
	};
}

/** `export` directives do not cut off what `forward_env`, `runtime:` and the collector rely on. */
export const exportKeepsEnvironment: Rule = (config, report) => {
	const [, compute] = onlyCompute(config);
	if (compute.type !== "slurm") return;
	const runtime = environments(config).flatMap(([, env]) =>
		[...env.values()].flatMap((text) => {
			const value = parseEnvValue(text);
			return value?.kind === "runtime" ? [value.name] : [];
		}),
	);
	const token = config.otel.enabled ? [config.otel.token_env] : [];
	const needed = [...new Set([...compute.forward_env, ...token, ...runtime])];
	for (const [path, directives] of directiveSets(config)) {
		const value = directives.get("export");
		if (typeof value !== "string") continue;
		const items = value.split(",").map((item) => item.trim().toUpperCase());
		if (items.includes("ALL")) continue;
		const lost = needed.length > 0 ? `: ${needed.join(", ")} cannot arrive` : "";
		if (items.includes("NONE") || items.includes("NIL")) {
			if (needed.length === 0) continue;
			const message = `export=${value} keeps the submitting environment out of the job${lost}`;
			report("warning", "export-none", [...path, "export"], message, "remove it, or use export=ALL");
		} else {
			const message = `export=${value} drops PATH and every other variable${lost}`;
			report("warning", "export-drops", [...path, "export"], message, `write ALL,${value}`);
		}
	}
};
