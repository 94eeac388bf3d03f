/** Ends a run with one plain line that any reader of logs understands: `N passed, N failed, N skipped`. */
import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Counts test cases at the end of a run. A module that could not be loaded counts as a failure. */
export class ClosingLine implements Reporter {
	onTestRunEnd(modules: readonly TestModule[]): void {
		const count = { passed: 0, failed: 0, skipped: 0 };
		for (const module of modules) {
			const cases: TestCase[] = [...module.children.allTests()];
			for (const one of cases) {
				const { state } = one.result();
				if (state !== "pending") count[state]++;
			}
			if (module.state() === "failed" && !cases.some((one) => one.result().state === "failed"))
				count.failed++;
		}
		process.stdout.write(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped\n`);
	}
}
