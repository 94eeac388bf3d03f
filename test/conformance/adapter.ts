/**
 * What the kit's `check` calls, over the public path of a submit file: load, validate, build and render.
 *   resolve CONFIG [OVERRIDE...]        render CONFIG FOLDER [OVERRIDE...]
 * Prints one JSON object. Every problem also goes to the file CONFORMANCE_NOTES, one line a call.
 */
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Problem } from "../../src/errors.ts";
import { buildJob } from "../../src/job/build.ts";
import { PLACEHOLDER_RUN_ID, renderJob } from "../../src/job/render.ts";
import { secretsFile } from "../../src/job/secrets.ts";
import { loadSubmitYaml } from "../../src/load/submit-yaml.ts";
import type { SubmitConfig } from "../../src/submit/config.ts";
import { toPlain } from "../../src/submit/emit.ts";
import { validateDocument } from "../../src/submit/validate.ts";

interface Outcome {
	readonly config: SubmitConfig | null;
	readonly problems: readonly Problem[];
}

const isError = ({ severity }: Problem) => severity === "error";

/** JSON with the keys of mappings in their own order, `"10"` before `"9"` too. */
function json(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(json).join(",")}]`;
	if (value instanceof Map)
		return `{${[...value].map(([k, v]) => `${JSON.stringify(String(k))}:${json(v)}`).join(",")}}`;
	return JSON.stringify(value);
}

function resolve(file: string, overrides: readonly string[]): Outcome {
	if (overrides.length > 0) {
		// The product takes no overrides so far.
		const problem: Problem = {
			code: "not-yet",
			severity: "error",
			at: "",
			message: "overrides are not supported yet",
		};
		return { config: null, problems: [problem] };
	}
	let text: string;
	try {
		text = readFileSync(file, "utf8");
	} catch {
		const problem: Problem = {
			code: "file-missing",
			severity: "error",
			at: "",
			message: `cannot read ${file}`,
		};
		return { config: null, problems: [problem] };
	}
	const loaded = loadSubmitYaml(text, file);
	// A file that could not be read whole is not validated: what is missing in it would be reported twice.
	if (loaded.problems.some(isError)) return { config: null, problems: loaded.problems };
	const { raw, sources } = loaded;
	const valid = validateDocument(raw, {
		sources,
		hostEnv: (name) => process.env[name],
		missingHost: "error",
	});
	return { config: valid.config, problems: [...loaded.problems, ...valid.problems] };
}

function render(config: SubmitConfig, folder: string): readonly Problem[] {
	const runDir = `${config.job.output_path}/${PLACEHOLDER_RUN_ID}`;
	return [...config.driver.benchmarks.keys()].flatMap((benchmark) => {
		const { job, problems } = buildJob(config, benchmark, { stack: "conformance" });
		if (job === null) return problems;
		const write = (name: string, text: string, mode: number) => {
			const path = join(folder, benchmark, name);
			mkdirSync(dirname(path), { recursive: true });
			writeFileSync(path, text, { mode });
			chmodSync(path, mode);
		};
		const secrets = secretsFile(job, (name) => process.env[name] ?? "");
		if (secrets !== "") write(".env", secrets, 0o600);
		for (const [name, { text, mode }] of renderJob(job, { runDir, toolVersion: "0.0.0" }).files)
			write(name, text, mode);
		return problems;
	});
}

const [verb, file = "", ...rest] = process.argv.slice(2);
const resolved = resolve(file, verb === "render" ? rest.slice(1) : rest);
const rendered = verb === "render" && resolved.config !== null ? render(resolved.config, rest[0]!) : [];
const problems = [...resolved.problems, ...rendered];
const errors = problems.filter(isError);
const notes = process.env.CONFORMANCE_NOTES;
if (notes !== undefined) appendFileSync(notes, `${JSON.stringify({ file, args: rest, verb, errors })}\n`);
const answer = new Map<string, unknown>([
	["ok", errors.length === 0],
	// The kit's paths have no white space at their ends, whatever a key ends in.
	[
		"errors",
		errors.map(
			({ at, code }) =>
				new Map([
					["at", at.trim()],
					["kind", code],
				]),
		),
	],
	[
		"idle_gpu_warnings",
		problems.filter(({ code, severity }) => code === "idle-gpus" && severity === "warning").length,
	],
	...(resolved.config === null ? [] : [["resolved", toPlain(resolved.config)] as const]),
]);
process.stdout.write(json(answer));
