/** Names of stacks of submit documents, and the choice of stacks. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { chosenStacks, type Loaded, loadStacks } from "../../../src/load/stacks.ts";
import { unwatched } from "./load-app.ts";

async function load(file: string, stackName?: string) {
	const directory = await mkdtemp(join(tmpdir(), "gym-stacks-"));
	onTestFinished(() => rm(directory, { recursive: true, force: true }));
	await writeFile(join(directory, file), "services: {}\n");
	const outside = {
		context: {},
		cacheDirectory: "/no/such",
		userCode: unwatched,
		hostEnv: () => undefined,
		missingHost: "note",
	} as const;
	const named = stackName === undefined ? {} : { stackName };
	return (await loadStacks({ directory, yaml: file, ...named, ...outside })).stacks.map(({ name }) => name);
}

test("a stack is named by its file, or as the person says", async () => {
	expect(await load("math.yaml")).toEqual(["math"]);
	expect(await load("a b.yaml", "math-2")).toEqual(["math-2"]);
});

test.each([
	["a b.yaml"],
	[".yaml"],
	["math.yaml", "a/b"],
	["math.yaml", "x\ntouch made #"],
	["math.yaml", ""],
	["math.yaml", ".."],
])("%j %j cannot be part of an address, a file name and a script", async (file, name?: string) => {
	await expect(load(file, name)).rejects.toMatchObject({
		exit: "invalid",
		problems: [{ code: "stack-name" }],
	});
});

test("a stack that is not there is an error, also beside one that is", () => {
	const loaded = { root: "/", stacks: [{ name: "a" }, { name: "b" }] } as unknown as Loaded;
	expect(chosenStacks(loaded, ["b"])).toEqual([{ name: "b" }]);
	expect(() => chosenStacks(loaded, ["a", "c"])).toThrow("stack-unknown: no stack c");
});
