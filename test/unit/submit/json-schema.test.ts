import { describe, expect, test } from "vitest";
import { type JsonSchema, submitJsonSchema } from "../../../src/submit/json-schema.ts";

const schema = submitJsonSchema();
const step = (node: JsonSchema, ...keys: readonly string[]): JsonSchema =>
	keys.reduce<JsonSchema>((at, key) => (at.properties?.[key] ?? at.additionalProperties) as JsonSchema, node);
const kind = (node: JsonSchema, type: string) =>
	node.oneOf!.find(({ properties }) => properties!.type!.const === type)!;

function everyNode(node: unknown, visit: (node: Record<string, unknown>) => void): void {
	if (typeof node !== "object" || node === null) return;
	if (!Array.isArray(node)) visit(node as Record<string, unknown>);
	for (const child of Object.values(node)) everyNode(child, visit);
}

test("it is a 2020-12 schema that survives JSON", () => {
	expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
	expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
	const nested: unknown[] = [];
	everyNode(Object.values(schema), (node) => "$schema" in node && nested.push(node));
	expect(nested).toEqual([]);
});

test("sections, and what must be given", () => {
	expect(schema.required).toEqual(["services", "compute", "driver", "job"]);
	expect(schema).toMatchObject({ additionalProperties: false, patternProperties: { "^_": {} } });
});

describe("mappings of users' names have the value's schema", () => {
	test("services", () => {
		const services = step(schema, "services");
		expect(services.type).toBe("object");
		const vllm = kind(services.additionalProperties as JsonSchema, "vllm");
		expect(vllm).toMatchObject({ additionalProperties: false, required: ["type", "container", "model"] });
		expect(vllm.properties!.port).toMatchObject({
			type: "integer",
			minimum: 1,
			maximum: 65535,
			default: 8000,
		});
	});

	test("pools inside a compute", () => {
		const slurm = kind(step(schema, "compute").additionalProperties as JsonSchema, "slurm");
		expect(step(slurm, "node_pools", "any")).toMatchObject({ required: ["partition"], type: "object" });
	});
});

test("every field of every section says what it is", () => {
	const silent: string[] = [];
	everyNode(schema, (node) => {
		for (const [name, field] of Object.entries((node.properties ?? {}) as Record<string, JsonSchema>)) {
			if (typeof field === "object" && field !== null && !field.description && name !== "type")
				silent.push(name);
		}
	});
	expect(silent).toEqual([]);
});
