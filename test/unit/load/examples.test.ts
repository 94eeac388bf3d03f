import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { synth } from "../../../constructs/testing/index.ts";
import { loadGymfile } from "../../../src/load/gymfile.ts";

const EXAMPLES = join(import.meta.dirname, "../../../examples");

let cacheDirectory: string;

beforeAll(async () => {
	cacheDirectory = await mkdtemp(join(tmpdir(), "gymfile-examples-"));
});

afterAll(() => rm(cacheDirectory, { recursive: true, force: true }));

const names = (await readdir(EXAMPLES, { withFileTypes: true })).filter((entry) => entry.isDirectory());

test.each(names.map(({ name }) => name))(
	"example %s is valid, with notes about unset variables only",
	async (name) => {
		const { app } = await loadGymfile(join(EXAMPLES, name, "gymfile.ts"), { context: {}, cacheDirectory });
		const stacks = synth(app);
		expect(stacks.length).toBeGreaterThan(0);
		const warnings = stacks.flatMap(({ problems }) => problems).filter(({ severity }) => severity !== "note");
		expect(warnings).toEqual([]);
	},
);
