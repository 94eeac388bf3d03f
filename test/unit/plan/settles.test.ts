import { describe, expect, test } from "vitest";
import { paintFor } from "../../../src/cli/views/paint.ts";
import { planEvents, planText } from "../../../src/cli/views/plan.ts";
import { decide } from "../../../src/plan/decide.ts";
import { desiredJobs } from "../../../src/plan/desired.ts";
import type { Desired } from "../../../src/plan/plan.ts";
import { validateDocument } from "../../../src/submit/validate.ts";
import { makePlan, makeRun, makeState, toValue } from "./runs.ts";

const DOCUMENT = {
	services: {
		policy: {
			type: "vllm",
			container: "registry.lab/serve:2.1",
			model: "acme/talker",
			env: { TOKEN: "host:TOKEN", A: "lit:1" },
		},
	},
	compute: {
		lab: {
			type: "slurm",
			account: "lab-07",
			node_pools: { front: { partition: "batch", gpus_per_node: 4 } },
		},
	},
	driver: { policy_model: "policy", benchmarks: { sums: { run: { split: "dev", limit: 3 } } } },
	job: { output_path: "/lake/evals" },
	otel: { enabled: false },
};

function desiredOf(document: unknown, secret = "s3cret-one"): Desired {
	const { config, problems } = validateDocument(toValue(document) as ReadonlyMap<string, unknown>, {
		hostEnv: () => secret,
		missingHost: "error",
	});
	if (!config) throw new Error(JSON.stringify(problems));
	const { desired } = desiredJobs(config, { stack: "math", toolVersion: "0.1.0" });
	return desired[0]!;
}

const applied = desiredOf(DOCUMENT);
const state = makeState({ sums: makeRun(applied, { status: "succeeded" }) });
const kindOf = (desired: Desired) =>
	decide([desired], state, { stack: "math", replace: [], user: null })[0]!.kind;

describe("a plan after an apply", () => {
	test("has no changes", () => {
		expect(kindOf(desiredOf(DOCUMENT))).toBe("none");
	});

	test("has none either when keys stand in another order", () => {
		const reversed = (plain: unknown): unknown => {
			if (typeof plain !== "object" || plain === null) return plain;
			return Object.fromEntries(
				Object.entries(plain)
					.reverse()
					.map(([key, item]) => [key, reversed(item)]),
			);
		};
		expect(kindOf(desiredOf(reversed(DOCUMENT)))).toBe("none");
	});

	test("has none when defaults are written out or a secret was rotated", () => {
		const policy = { ...DOCUMENT.services.policy, port: 8000, pipeline_parallel_size: 1, mounts: [] };
		expect(kindOf(desiredOf({ ...DOCUMENT, services: { policy } }))).toBe("none");
		expect(kindOf(desiredOf(DOCUMENT, "s3cret-two"))).toBe("none");
	});

	test("has one when a value changed", () => {
		const driver = { ...DOCUMENT.driver, benchmarks: { sums: { run: { split: "test", limit: 3 } } } };
		expect(kindOf(desiredOf({ ...DOCUMENT, driver }))).toBe("resubmit");
	});
});

test("no screen and no event holds a secret", () => {
	const policy = { ...DOCUMENT.services.policy, model: "acme/other", env: { KEY: "host:KEY" } };
	const plan = makePlan([desiredOf({ ...DOCUMENT, services: { policy } }, "s3cret-two")], state);
	const shown = planText(plan, { showJob: "full", paint: paintFor(0) }) + JSON.stringify(planEvents(plan));
	expect(shown).toContain("host:KEY");
	expect(shown).not.toContain("s3cret");
});
