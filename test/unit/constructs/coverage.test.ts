import { expect, test } from "vitest";
import { synthApp } from "../../../constructs/index.ts";
import { type JsonSchema, submitJsonSchema } from "../../../src/submit/json-schema.ts";
import { fullLocalStack, fullSlurmStack } from "./full-stack.ts";

type Tree = ReadonlyMap<string, unknown>;

/** Schema branches that fit a mapping: a branch with another `type` is not meant. */
function branches(schema: JsonSchema, value: Tree): readonly JsonSchema[] {
	const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
	if (choices.length === 0) return [schema];
	return choices
		.filter((choice) => {
			const type = choice.properties?.type?.const;
			return type === undefined || type === value.get("type");
		})
		.flatMap((choice) => branches(choice, value));
}

/** `path` of every field that the schema has and the document lacks, or the other way round. */
function differences(schema: JsonSchema, value: Tree, path: string): readonly string[] {
	return branches(schema, value).flatMap((branch) => {
		const { properties, additionalProperties } = branch;
		if (!properties && typeof additionalProperties !== "object") return [];
		const lacking = Object.keys(properties ?? {}).filter((key) => !value.has(key));
		const deeper = [...value].flatMap(([key, item]) => {
			const next = properties?.[key] ?? additionalProperties;
			if (typeof next !== "object") return [`unknown ${path}.${key}`];
			return item instanceof Map ? differences(next, item, `${path}.${key}`) : [];
		});
		return [...lacking.map((key) => `lacking ${path}.${key}`), ...deeper];
	});
}

test("every field of the schema can be written by a prop, and no prop writes another field", () => {
	const schema = submitJsonSchema();
	const [slurm] = synthApp(fullSlurmStack().node.root);
	const [local] = synthApp(fullLocalStack().node.root);
	const compute = (raw: Tree) => new Map([["compute", raw.get("compute")]]);
	const localOnly = { properties: { compute: schema.properties!.compute! } };
	const found = [...differences(schema, slurm!.raw, ""), ...differences(localOnly, compute(local!.raw), "")];
	expect(found.filter((text) => text.startsWith("unknown"))).toEqual([]);
	// Fields that stand in one of the two documents, or in a sibling, and are left out here.
	expect(found).toEqual([
		"lacking .services.ray.node_pool",
		"lacking .compute.north.node_pools.back.extra_args",
		"lacking .driver.benchmarks.sums.command",
		"lacking .driver.benchmarks.own.prepare",
		"lacking .driver.benchmarks.own.run",
	]);
});

test("references, env and free values are plain in the document", () => {
	const [stack] = synthApp(fullSlurmStack().node.root);
	const services = stack!.raw.get("services") as Tree;
	const policy = services.get("policy") as Tree;
	expect(policy.get("type")).toBe("vllm");
	expect(policy.get("placement")).toBe("north");
	expect(policy.get("node_pool")).toBe("front");
	expect(policy.get("env")).toEqual(
		new Map([
			["A", "lit:1"],
			["B", "host:SECRET"],
			["C", "runtime:HF_TOKEN"],
		]),
	);
	const ray = services.get("ray") as Tree;
	expect(ray.get("node_pools")).toEqual(["front", "back"]);
	expect(ray.get("resources")).toEqual(new Map([["back", new Map([["extra_gpu", 4]])]]));
	const driver = stack!.raw.get("driver") as Tree;
	expect(driver.get("policy_model")).toBe("policy");
	expect(driver.get("policy_host")).toBe("${oc.env:HEAD_NODE_IP}");
	const sums = (driver.get("benchmarks") as Tree).get("sums") as Tree;
	expect(sums.get("run")).toEqual(
		new Map<string, unknown>([
			["split", "dev"],
			["seed", null],
			["nested", new Map([["list", [1, "two", new Map([["three", 3]])]]])],
		]),
	);
	expect(sums.get("resumable")).toEqual(
		new Map<string, unknown>([
			["max_retries", 5],
			["max_walltime", "1-00:00:00"],
		]),
	);
	expect(sums.has("lifecycle")).toBe(false);
	expect(stack!.settings.benchmarks).toEqual(
		new Map([
			["sums", { onChange: "replace", noProgressLimit: 3 }],
			["own", { onChange: "refuse", noProgressLimit: 3 }],
		]),
	);
});
