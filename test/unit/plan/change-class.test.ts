import { expect, test } from "vitest";
import { classOf } from "../../../src/plan/change-class.ts";

test.each([
	["services.policy.model", "results"],
	["services.policy.extra_args", "results"],
	["services.policy.env.HF_TOKEN", "results"],
	["services.policy.container", "results"],
	["services.policy.tensor_parallel_size", "speed"],
	["services.policy.health_check.timeout_seconds", "speed"],
	["services.policy.health_check", "speed"],
	["services.pair.prefill.number_of_instances", "speed"],
	["services.pair.prefill.model", "results"],
	["services", "speed"],
	["services.new", "results"],
	["compute.lab.walltime", "speed"],
	["compute.lab.node_pools.gpu.nodes", "speed"],
	["compute.lab.node_pools.gpu", "speed"],
	["compute.lab.node_pools.gpu.extra_args.qos", "speed"],
	["compute.lab.extra_args.comment", "cosmetic"],
	["compute.lab.extra_args.mail-user", "cosmetic"],
	["compute.lab.extra_args.never-heard-of", "results"],
	["driver.gym_install.ref", "results"],
	["driver.benchmarks.x.run.temperature", "results"],
	["driver.benchmarks.x.run.walltime", "results"],
	["driver.benchmarks.x.prepare.split", "results"],
	["driver.benchmarks.x.command", "results"],
	["driver.benchmarks.x.resumable.max_retries", "speed"],
	["otel.endpoint", "cosmetic"],
	["job.output_path", "cosmetic"],
	["something.else", "results"],
] as const)("%s changes %s", (path, kind) => {
	expect(classOf(path.split("."))).toBe(kind);
});

test("a name with dots is one step", () => {
	expect(classOf(["services", "a.b", "port"])).toBe("speed");
	expect(classOf(["services", "a", "b", "port"])).toBe("results");
});
