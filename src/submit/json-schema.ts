/** The submit document as JSON Schema, for editors. */
import * as z from "zod";
import { documentSchema } from "./schema/document.ts";

/** A JSON Schema node, as far as we look into one. */
export interface JsonSchema {
	readonly [key: string]: unknown;
	readonly properties?: Readonly<Record<string, JsonSchema>>;
	readonly additionalProperties?: JsonSchema | boolean;
	readonly anyOf?: readonly JsonSchema[];
	readonly oneOf?: readonly JsonSchema[];
}

type Context = Parameters<NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>["override"]>>[0];

/**
 * What zod leaves out. JSON Schema has no `Map`: a mapping of the user's names is an object whose every
 * value has the value's schema. Defaults are dropped where the input is read leniently, as ours is.
 */
function complete({ zodSchema, jsonSchema }: Context): void {
	if (zodSchema instanceof z.ZodDefault) {
		const value: unknown = zodSchema.def.defaultValue;
		jsonSchema.default = value instanceof Map ? {} : (value as typeof jsonSchema.default);
	}
	if (!(zodSchema instanceof z.ZodMap)) return;
	jsonSchema.type = "object";
	const { $schema: _, ...value } = convert(zodSchema.valueType as z.ZodType);
	jsonSchema.additionalProperties = value;
}

function convert(schema: z.ZodType) {
	return z.toJSONSchema(schema, { io: "input", unrepresentable: "any", override: complete });
}

/**
 * JSON Schema 2020-12 of what a person may write. Keys starting with `_` at the top are scratch
 * namespaces and allowed. Narrower than the loader in one way: numbers written as text are not in it.
 */
export function submitJsonSchema(): JsonSchema {
	const schema = convert(documentSchema("required"));
	return {
		title: "gym eval submit",
		...(schema as JsonSchema),
		patternProperties: { "^_": {} },
	};
}
