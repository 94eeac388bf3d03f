import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/setup/closing-line.ts";

const alias = {
	"gymfile/testing": new URL("./constructs/testing/index.ts", import.meta.url).pathname,
	gymfile: new URL("./src/index.ts", import.meta.url).pathname,
};

/** Programs that a job carries with it are imported as text, as the bundler does. */
const programsAsText = {
	name: "programs-as-text",
	transform: (code: string, id: string) =>
		id.endsWith(".py") ? `export default ${JSON.stringify(code)};` : undefined,
};

const project = (name: string, include: readonly string[], more: object = {}) => ({
	extends: true as const,
	test: { name, include: [...include], testTimeout: 180_000, hookTimeout: 300_000, ...more },
});

export default defineConfig({
	resolve: { alias },
	plugins: [programsAsText],
	test: {
		reporters: ["default", new ClosingLine()],
		projects: [
			project("unit", ["test/unit/**/*.test.ts", "test/property/**/*.test.ts"], { testTimeout: 60_000 }),
			// They mostly wait; by themselves, since their programs should not wait for others.
			project("local", ["test/local/**/*.test.ts"], { maxWorkers: 2, sequence: { groupOrder: 1 } }),
			project("package", ["test/package/**/*.test.ts"]),
			project("peer", ["test/peer/**/*.test.ts"]),
			project("gateway", ["test/gateway/**/*.test.ts"], { maxWorkers: 2, sequence: { groupOrder: 2 } }),
			project("cluster", ["test/cluster/**/*.test.ts"], {
				globalSetup: ["test/setup/cluster.global.ts"],
				fileParallelism: false,
			}),
		],
	},
});
