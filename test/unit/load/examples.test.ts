import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { synth } from "../../../constructs/testing/index.ts";
import { loadApp } from "./load-app.ts";

const EXAMPLES = join(import.meta.dirname, "../../../examples");

let cacheDirectory: string;

beforeAll(async () => {
	cacheDirectory = await mkdtemp(join(tmpdir(), "gymfile-examples-"));
});

afterAll(() => rm(cacheDirectory, { recursive: true, force: true }));

const gymfiles = (await readdir(EXAMPLES, { recursive: true })).filter(
	(name) => basename(name) === "gymfile.ts",
);

test.each([...gymfiles, "../gymfile.ts"])(
	"example %s is valid, with notes about unset variables only",
	async (name) => {
		const { app } = await loadApp(join(EXAMPLES, name), { context: {}, cacheDirectory });
		const stacks = synth(app);
		expect(stacks.length).toBeGreaterThan(0);
		const warnings = stacks.flatMap(({ problems }) => problems).filter(({ severity }) => severity !== "note");
		expect(warnings).toEqual([]);
	},
);
