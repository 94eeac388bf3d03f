// Bundles the library, the testing helpers and the command line into dist/, sharing chunks, so that a
// gymfile and the program that loads it see one copy of every class. `--types` adds the declarations.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
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
	loader: { ".py": "text", ".sh": "text" },
	external: ["constructs", "jiti"],
	// CommonJS dependencies that got bundled still call `require` for Node's own modules.
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
