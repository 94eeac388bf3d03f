import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { App, synthApp } from "../../../constructs/index.ts";
import { GymError } from "../../../src/errors.ts";
import { loadApp } from "./load-app.ts";

const STACK = `
const stack = new EvalStack(app, "math", { outputPath: "/x" });
new Otel(stack, "otel", { enabled: false });
new LocalCompute(stack, "here");
`;

let folder: string;

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), "gymfile (test) "));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes the files and loads the first one. */
async function load(files: Readonly<Record<string, string>>, context: Readonly<Record<string, string>> = {}) {
	for (const [name, text] of Object.entries(files)) {
		await mkdir(dirname(join(folder, name)), { recursive: true });
		await writeFile(join(folder, name), text);
	}
	const file = join(folder, Object.keys(files)[0]!);
	return loadApp(file, { context, cacheDirectory: join(folder, "cache") });
}

/** The one problem with which the files are refused; its file relative to the folder. */
async function refused(files: Readonly<Record<string, string>>) {
	const error = await load(files).then(
		() => undefined,
		(thrown: unknown) => thrown,
	);
	if (!GymError.is(error)) throw new Error(`not refused: ${String(error)}`);
	expect(error.exit).toBe("invalid");
	expect(error.problems).toHaveLength(1);
	const { source, ...problem } = error.problems[0]!;
	return { ...problem, at: source && [source.file.replace(`${folder}/`, ""), source.line, source.column] };
}

/** Where the benchmarks were made: construct path → file and line. */
function places({ app }: { readonly app: App }) {
	const [stack] = synthApp(app);
	const benchmarks = (stack!.raw.get("driver") as ReadonlyMap<string, ReadonlyMap<string, unknown>>).get(
		"benchmarks",
	)!;
	return [...benchmarks.keys()].map((name) => {
		const { source, construct } = stack!.sources.locate(["driver", "benchmarks", name, "run", "x"]);
		return [construct, source!.file.replace(`${folder}/`, ""), source!.line];
	});
}

describe.each([
	["without a package.json", {}],
	["with type: module", { "package.json": '{ "type": "module" }' }],
	["with type: commonjs", { "package.json": '{ "type": "commonjs" }' }],
])("a folder %s", (_, extra) => {
	test("loads TypeScript with top-level await and imports without extension, and knows the lines", async () => {
		const loaded = await load({
			"gymfile.ts": `import { App, Benchmark, EvalStack, LocalCompute, Otel } from "gymfile";
import { addSums } from "./lib/sums";

interface Names {
	readonly all: readonly string[];
}

const { all }: Names = await Promise.resolve({ all: ["a", "b"] });
const app = new App();
${STACK}
for (const name of all) {
	new Benchmark(
		stack,
		name,
	);
}
class Mine extends Benchmark {}
new Mine(stack, "mine");
addSums(stack);
const { late } = await import("./lib/late");
late(stack);
export default app;
`,
			"lib/sums.ts": `import { Benchmark, type EvalStack } from "gymfile";
import { Construct } from "constructs";

class Suite extends Construct {
	constructor(scope: Construct, id: string) {
		super(scope, id);
		new Benchmark(this, "sums");
	}
}

export function addSums(stack: EvalStack): void {
	new Suite(stack, "suite");
}
`,
			"lib/late.ts": `import { Benchmark, type EvalStack } from "gymfile";
export const late = (stack: EvalStack) => new Benchmark(stack, "late");
`,
			...extra,
		});
		expect(places(loaded)).toEqual([
			["math/a", "gymfile.ts", 16],
			["math/b", "gymfile.ts", 16],
			["math/mine", "gymfile.ts", 22],
			["math/suite/sums", "lib/sums.ts", 7],
			["math/late", "lib/late.ts", 2],
		]);
		expect(loaded.files.map((file) => file.replace(`${folder}/`, ""))).toEqual([
			"gymfile.ts",
			"lib/sums.ts",
			"lib/late.ts",
		]);
		expect(loaded.app).toBeInstanceOf(App);
	});

	test("shows the line of an error that the gymfile throws", async () => {
		const threw = await refused({
			"gymfile.ts": `import { App } from "gymfile";

function deep(): never {
	throw new RangeError("too deep");
}
await null;
deep();
export default new App();
`,
			...extra,
		});
		expect(threw).toMatchObject({ code: "gymfile-threw", message: "RangeError: too deep" });
		expect(threw.at).toEqual(["gymfile.ts", 4, undefined]);
	});
});

test("a construct made inside an installed package is located where the gymfile uses the package", async () => {
	const pkg = "node_modules/suites";
	const loaded = await load({
		"gymfile.ts": `import { App, EvalStack, LocalCompute, Otel } from "gymfile";
import { suite } from "suites";
const app = new App();
${STACK}
suite(stack);
export default app;
`,
		[`${pkg}/package.json`]: '{ "name": "suites", "main": "index.ts" }',
		[`${pkg}/index.ts`]: `import { Benchmark } from "gymfile";
export const suite = (stack) => new Benchmark(stack, "packed");
`,
	});
	expect(places(loaded)).toEqual([["math/packed", "gymfile.ts", 9]]);
	expect(loaded.files.map((file) => file.replace(`${folder}/`, ""))).toEqual(["gymfile.ts"]);
});

test("classes of a second copy of this package are recognised", async () => {
	await symlink(join(import.meta.dirname, "../../../constructs"), join(folder, "copy"));
	await symlink(join(import.meta.dirname, "../../../src"), join(folder, "src"));
	const loaded = await load(
		{
			"gymfile.ts": `import { App, Benchmark, EvalStack, LocalCompute, Otel, lit } from "./copy/index";
const app = new App();
${STACK}
new Benchmark(stack, "b");
export default app;
`,
		},
		{ key: "value" },
	);
	expect(loaded.app).not.toBeInstanceOf(App);
	expect(loaded.app.node.tryGetContext("key")).toBe("value");
	expect(synthApp(loaded.app)).toMatchObject([{ stack: "math", problems: [] }]);
	expect(places(loaded).map(([construct]) => construct)).toEqual(["math/b"]);
});

describe("the default export", () => {
	test("can be a function of the context, async or not", async () => {
		const text = (fn: string) => `import { App } from "gymfile";
export default ${fn} (context) => new App({ context: { got: context.model } });
`;
		for (const fn of ["", "async"]) {
			const { app } = await load({ [`${fn}gymfile.ts`]: text(fn) }, { model: "m1" });
			expect(app.node.tryGetContext("got")).toBe("m1");
			expect(app.node.tryGetContext("model")).toBe("m1");
		}
	});

	test("must be there, and be an App", async () => {
		const missing = await refused({
			"a.ts": 'import { App } from "gymfile";\nexport const app = new App();\n',
		});
		expect(missing).toMatchObject({ code: "no-default-export", at: ["a.ts", undefined, undefined] });
		expect(missing.remedy).toContain("export default");
		expect(await refused({ "b.ts": "export default 7;\n" })).toMatchObject({ code: "not-an-app" });
		expect(await refused({ "c.ts": "export default async () => ({});\n" })).toMatchObject({
			code: "not-an-app",
		});
	});
});

describe("context", () => {
	const gymfile = `import { App } from "gymfile";
const asked = new App().node.tryGetContext("size");
await new Promise((resolve) => setImmediate(resolve));
export default new App({ context: { asked, own: "mine" } });
`;

	test("reaches an App made at the top of the file, and the App's own values win", async () => {
		const { app } = await load({ "gymfile.ts": gymfile }, { size: "8b", own: "given" });
		expect(app.node.tryGetContext("asked")).toBe("8b");
		expect(app.node.tryGetContext("size")).toBe("8b");
		expect(app.node.tryGetContext("own")).toBe("mine");
	});

	test("of loads side by side stays apart, and none is left behind", async () => {
		const sizes = ["1b", "2b", "3b"];
		const loads = sizes.map((size) => load({ [`${size}.ts`]: gymfile }, { size }));
		const found = (await Promise.all(loads)).map(({ app }) => app.node.tryGetContext("asked"));
		expect(found).toEqual(sizes);
		expect(new App().node.tryGetContext("size")).toBeUndefined();
	});
});

describe("errors", () => {
	test("of syntax have line and column, and no words of the loader", async () => {
		const syntax = await refused({
			"gymfile.ts": `import { App } from "gymfile";
const app = new App();
export default async () => {
	const { more } = await import("./more");
	more(app);

	const broken = = 1;
	return app;
};
`,
		});
		expect(syntax).toMatchObject({ code: "gymfile-syntax", at: ["gymfile.ts", 7, 17] });
		expect(JSON.stringify(syntax)).not.toMatch(/jiti|babel|ParseError/i);
	});

	test("of syntax in an imported file name that file", async () => {
		const syntax = await refused({
			"gymfile.ts": 'import { x } from "./lib";\nexport default x;\n',
			"lib.ts": "export const x = 1;\nexport const y = {;\n",
		});
		expect(syntax).toMatchObject({ code: "gymfile-syntax", at: ["lib.ts", 2, 19] });
	});

	test("of a missing import name it and the line that asks for it", async () => {
		const files = {
			"gymfile.ts": 'import { x } from "./lib";\nexport default x;\n',
			"lib.ts": '\nimport { y } from "./nowhere";\nexport const x = y;\n',
		};
		const missing = await refused(files);
		expect(missing).toMatchObject({ code: "gymfile-threw", at: ["lib.ts", 2, undefined] });
		expect(missing.message).toContain('"./nowhere"');
	});

	test("thrown by a library are shown at the gymfile's own line", async () => {
		const threw = await refused({
			"gymfile.ts": `import { App, EvalStack, LocalCompute, Otel } from "gymfile";
const app = new App();
${STACK}
new LocalCompute(stack, "here");
export default app;
`,
		});
		expect(threw.code).toBe("gymfile-threw");
		expect(threw.message).toContain("here");
		expect(threw.at).toEqual(["gymfile.ts", 8, undefined]);
	});

	test("that are no Error are shown too", async () => {
		const threw = await refused({ "gymfile.ts": 'throw "just text";\n' });
		expect(threw).toMatchObject({ code: "gymfile-threw", message: "just text" });
		expect(threw.at![0]).toBe("gymfile.ts");
	});

	test("of our own constructs keep their code and place", async () => {
		const ours = await refused({
			"gymfile.ts": `import { App, EvalStack, SlurmCompute } from "gymfile";
const stack = new EvalStack(new App(), "s", { outputPath: "/x" });
const c = new SlurmCompute(stack, "c", { account: "a", nodePools: { gpu: { partition: "q" } } });

c.addPool("gpu", { partition: "q" });
`,
		});
		expect(ours).toMatchObject({ code: "pool-duplicate", at: ["gymfile.ts", 5, undefined] });
	});

	test("a missing file, and a folder in its place", async () => {
		const options = { context: {}, cacheDirectory: join(folder, "cache") };
		const missing = loadApp(join(folder, "gymfile.ts"), options);
		await expect(missing).rejects.toMatchObject({ problems: [{ code: "gymfile-missing" }] });
		await expect(loadApp(folder, options)).rejects.toMatchObject({
			problems: [{ code: "gymfile-missing" }],
		});
	});
});

describe("loading again", () => {
	const text = (value: string) => `import { App } from "gymfile";
import { value } from "./value";
export default new App({ context: { value: value + "${value}" } });
`;

	test("sees what the files say now, also after an error", async () => {
		const value = (v: string) => `export const value = "${v}";\n`;
		const first = await load({ "gymfile.ts": text("1"), "value.ts": value("a") });
		expect(first.app.node.tryGetContext("value")).toBe("a1");
		await refused({ "gymfile.ts": text("2"), "value.ts": "export const value = ;\n" });
		const third = await load({ "gymfile.ts": text("3"), "value.ts": value("c") });
		expect(third.app.node.tryGetContext("value")).toBe("c3");
	});

	test("uses a cache that only this user can open", async () => {
		const cache = join(folder, "cache");
		await mkdir(cache, { mode: 0o755 });
		await load({ "gymfile.ts": text("1"), "value.ts": 'export const value = "a";\n' });
		expect((await stat(cache)).mode & 0o777).toBe(0o700);
		expect(await readdir(cache)).not.toEqual([]);
	});

	test("works where no cache can be made", async () => {
		await writeFile(join(folder, "cache"), "in the way");
		const { app } = await load({ "gymfile.ts": text("1"), "value.ts": 'export const value = "a";\n' });
		expect(app.node.tryGetContext("value")).toBe("a1");
	});
});
