import { defineConfig } from "vitest/config";

const alias = {
	"gymfile/testing": new URL("./constructs/testing/index.ts", import.meta.url).pathname,
	gymfile: new URL("./src/index.ts", import.meta.url).pathname,
};

export default defineConfig({
	resolve: { alias },
	test: {
		projects: [
			{
				extends: true,
				test: { name: "unit", include: ["test/unit/**/*.test.ts", "test/property/**/*.test.ts"], testTimeout: 60_000 },
			},
			{
				extends: true,
				test: {
					name: "cluster",
					include: ["test/cluster/**/*.test.ts"],
					globalSetup: ["test/setup/cluster.global.ts"],
					testTimeout: 180_000,
					hookTimeout: 180_000,
					fileParallelism: false,
				},
			},
		],
	},
});
