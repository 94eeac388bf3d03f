// Compares submit files, their jobs and what these do with the expectations of a folder.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));

/** What each case of the folder expects, by its id. */
function expectations(folder, only) {
	return readdirSync(join(folder, "expected"))
		.filter((name) => name.endsWith(".json"))
		.sort()
		.map((name) => JSON.parse(readFileSync(join(folder, "expected", name), "utf8")))
		.filter((expected) => only === null || only.includes(expected.case));
}

/** Path of a case's submit file, as the kit hands it to the adapter. */
function configOf(folder, expected) {
	return join(folder, expected.config ?? join("cases", "absent.yaml"));
}

/**
 * What the product said to be still missing for a case; empty when it said anything else, or nothing.
 * `notes` are the adapter's calls.
 */
function missing(notes, folder, expected) {
	const file = configOf(folder, expected);
	const calls = notes.filter(
		(note) =>
			note.file === file &&
			JSON.stringify(note.args.slice(note.verb === "render" ? 1 : 0)) === JSON.stringify(expected.overrides),
	);
	const errors = calls.flatMap((call) => call.errors);
	if (errors.some((error) => error.code !== "not-yet")) return [];
	return [
		...new Set(
			errors.map(
				(error) =>
					`${error.message.replace(/ (is|are) not supported( here)? yet$/, "")}${error.at ? ` (${error.at})` : ""}`,
			),
		),
	];
}

/** One line of the kit's report as path, expected and got. */
function difference(line) {
	const match = /^(.*?): want (.*), got (.*)$/s.exec(line);
	return match ? `${match[1]}\n      expected ${match[2]}\n      got      ${match[3]}` : line;
}

/**
 * Runs all cases of `folder` (or those of `only`) and prints the outcome.
 * @returns how many passed and failed, and how many wait for what the product lacks
 */
export async function submitConformance(folder, only) {
	const work = mkdtempSync(join(tmpdir(), "gymfile-conformance-"));
	try {
		const adapter = join(work, "adapter.mjs");
		await build({
			entryPoints: [join(here, "adapter.ts")],
			outfile: adapter,
			bundle: true,
			format: "esm",
			platform: "node",
			target: "node20",
			loader: { ".py": "text" },
			logLevel: "warning",
			// CommonJS dependencies that got bundled still call `require` for Node's own modules.
			banner: {
				js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
			},
		});
		const root = resolve(folder);
		const expected = expectations(root, only);
		const notesFile = join(work, "notes.jsonl");
		const command = `'${process.execPath}' '${adapter}'`;
		const args = [join(here, "kit/submit/check"), "--adapter", command, "--json", "--jobs", "2"];
		const check = spawnSync(
			"python3",
			[...args, ...(only === null ? [] : ["--only", only.join(",")]), root],
			{
				encoding: "utf8",
				env: { ...process.env, CONFORMANCE_NOTES: notesFile },
				maxBuffer: 256 * 1024 * 1024,
				stdio: ["ignore", "pipe", "inherit"],
			},
		);
		if (check.stdout === "") throw new Error("the kit's check gave no answer");
		const { failed } = JSON.parse(check.stdout);
		const notes = existsSync(notesFile)
			? readFileSync(notesFile, "utf8")
					.trimEnd()
					.split("\n")
					.map((line) => JSON.parse(line))
			: [];
		const waiting = [];
		let wrong = 0;
		for (const entry of expected) {
			const lines = failed[entry.case];
			if (lines === undefined) continue;
			const lacks = missing(notes, root, entry);
			if (lacks.length > 0) {
				waiting.push(`${entry.case}: ${lacks.join("; ")}`);
				continue;
			}
			wrong++;
			for (const line of lines) console.log(`${entry.case}\n   ${difference(line)}`);
		}
		if (waiting.length > 0)
			console.log(`not yet (${waiting.length}):\n${waiting.map((line) => `   ${line}`).join("\n")}`);
		return { passed: expected.length - wrong - waiting.length, failed: wrong, waiting: waiting.length };
	} finally {
		rmSync(work, { recursive: true, force: true });
	}
}
