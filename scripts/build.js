// Bundles the library, the testing helpers, the command line and the local supervisor into dist/, sharing chunks,
// so that a gymfile and the program that loads it see one copy of every class; then writes the declarations.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Packages that stay outside are CommonJS. They are required, not imported: an import makes Node read their whole
 * text for the names of their exports first, which is a sixth of the start-up time.
 */
const required = {
	name: "required",
	setup(on) {
		on.onResolve({ filter: /^(constructs|jiti)$/ }, ({ path, kind }) =>
			kind === "require-call" ? { path, external: true } : { path, namespace: "required" },
		);
		on.onLoad({ filter: /.*/, namespace: "required" }, ({ path }) => ({
			contents: `module.exports = require(${JSON.stringify(path)});`,
			resolveDir: root,
		}));
	},
};

rmSync(`${root}dist`, { recursive: true, force: true });
await build({
	absWorkingDir: root,
	entryPoints: {
		index: "src/index.ts",
		testing: "constructs/testing/index.ts",
		cli: "src/cli/main.ts",
		supervisor: "src/cluster/local/supervisor.ts",
	},
	outdir: "dist",
	bundle: true,
	splitting: true,
	format: "esm",
	platform: "node",
	target: "node20",
	chunkNames: "chunks/[name]-[hash]",
	plugins: [required],
	// ssh2 does without its native parts, and wants to know where it lies.
	external: ["*.node", "cpu-features"],
	define: { __dirname: "import.meta.dirname" },
	loader: { ".py": "text" },
	// What is CommonJS, inside the bundle or outside, calls `require`.
	banner: {
		js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
	},
	logLevel: "warning",
	legalComments: "linked",
	minifyWhitespace: true,
	minifySyntax: true,
});
execFileSync(
	process.execPath,
	[`${root}node_modules/typescript/bin/tsc`, "-p", `${root}tsconfig.types.json`],
	{ stdio: "inherit" },
);
