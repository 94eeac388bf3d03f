/** The script of every benchmark that the conformance cases describe, on Slurm and on this machine. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { buildJob } from "../../../src/job/build.ts";
import { PLACEHOLDER_RUN_ID, renderJob } from "../../../src/job/render.ts";
import { loadSubmitYaml } from "../../../src/load/submit-yaml.ts";
import type { SubmitConfig } from "../../../src/submit/config.ts";
import { validateDocument } from "../../../src/submit/validate.ts";

const CASES = new URL("../../conformance/kit/submit/given/cases/", import.meta.url);
const hasShellcheck = spawnSync("shellcheck", ["--version"]).status === 0;
const folder = mkdtempSync(join(tmpdir(), "gymfile-scripts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The same document for this machine. */
function local(config: SubmitConfig): SubmitConfig {
	const services = new Map([...config.services].map(([name, one]) => [name, { ...one, node_pool: null }]));
	const compute = new Map([["here", { type: "local" as const, walltime: null, env: new Map() }]]);
	return { ...config, services, compute } as SubmitConfig;
}

const files = readdirSync(CASES).flatMap((name) => {
	const { raw, sources, problems } = loadSubmitYaml(readFileSync(new URL(name, CASES), "utf8"), name);
	if (problems.length > 0) return [];
	const { config } = validateDocument(raw, { sources, hostEnv: () => "value", missingHost: "error" });
	if (!config) return [];
	// Tiers and clusters want pools, which this machine has none of.
	const isPlain = [...config.services.values()].every(({ type }) => type === "vllm");
	return [config, ...(isPlain ? [local(config)] : [])].flatMap((one, i) =>
		[...one.driver.benchmarks.keys()].flatMap((benchmark) => {
			const { job } = buildJob(one, benchmark, { stack: "kit" });
			if (!job) return [];
			const rendered = renderJob(job, { runDir: `/out/${PLACEHOLDER_RUN_ID}`, toolVersion: "1.2.3" });
			const file = join(folder, `${name}.${benchmark}.${i === 0 ? "slurm" : "local"}.sh`);
			writeFileSync(file, rendered.files.get("job.sh")!.text);
			return [file];
		}),
	);
});

test("there are scripts of both kinds", () => {
	for (const kind of ["slurm", "local"]) {
		expect(files.filter((file) => file.endsWith(`.${kind}.sh`)).length).toBeGreaterThan(20);
	}
});

test("every script is bash", () => {
	for (const file of files) execFileSync("bash", ["-n", file]);
});

test.runIf(hasShellcheck)("every script passes shellcheck", () => {
	const { stdout } = spawnSync("shellcheck", ["--format=gcc", ...files], { encoding: "utf8" });
	expect(stdout).toBe("");
});
