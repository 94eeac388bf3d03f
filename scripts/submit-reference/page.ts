/** The page docs/submit-reference.md, made from the schema's descriptions and the types of the constructs. */
import ts from "typescript";
import { type JsonSchema, submitJsonSchema } from "../../src/submit/json-schema.ts";
import { CODE_FIELDS, FORM_CODES } from "./codes.ts";
import { TABLES, type Table } from "./tables.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** A field of the document. */
export interface Field {
	/** `<table>.<field>`. */
	readonly id: string;
	/** Path in the document; `*` is a name of the user's. */
	readonly path: string;
	readonly schema: JsonSchema;
	readonly required: boolean;
	/** What sets it in a gymfile; undefined when nothing does. */
	readonly construct: string | undefined;
	/** Codes of what can be wrong with it, beside its form. */
	readonly codes: readonly string[];
}

function objectAt(schema: JsonSchema, kind: string | undefined): JsonSchema {
	const branches = schema.oneOf ?? schema.anyOf;
	if (!branches) return schema;
	return branches.find(({ properties }) => properties && (properties.type?.const ?? kind) === kind) ?? schema;
}

/** The schema of a table's object. */
function schemaOf({ path, kind }: Table): JsonSchema {
	const steps = path === "" ? [] : path.split(".");
	return steps.reduce((above, step) => {
		const next = step === "*" ? above.additionalProperties : above.properties?.[step];
		if (typeof next !== "object") throw new Error(`the schema has no ${path}`);
		return objectAt(next, kind);
	}, submitJsonSchema());
}

/** The props of each construct: names of the properties of every exported type whose name ends in `Props`. */
function constructProps(): ReadonlyMap<string, ReadonlySet<string>> {
	const index = `${ROOT}constructs/index.ts`;
	const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
	const program = ts.createProgram([index], ts.parseJsonConfigFileContent(config, ts.sys, ROOT).options);
	const checker = program.getTypeChecker();
	const module = checker.getSymbolAtLocation(program.getSourceFile(index)!)!;
	const types = checker.getExportsOfModule(module).filter(({ name }) => name.endsWith("Props"));
	return new Map(
		types.map((symbol) => {
			const type = checker.getDeclaredTypeOfSymbol(
				symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
			);
			const parts = type.isUnion() ? type.types : [type];
			return [symbol.name, new Set(parts.flatMap((part) => part.getProperties().map(({ name }) => name)))];
		}),
	);
}

const camelCase = (key: string) => key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Every field, in the order of the page. */
export function submitFields(): readonly Field[] {
	const props = constructProps();
	return TABLES.flatMap((table) => {
		const schema = schemaOf(table);
		const required = (schema.required ?? []) as readonly string[];
		const names = table.props === undefined ? undefined : props.get(table.props);
		return Object.entries(schema.properties ?? {}).map(([key, field]): Field => {
			const prop = names?.has(camelCase(key)) ? `${table.construct}.${camelCase(key)}` : undefined;
			const id = `${table.id}.${key}`;
			return {
				id,
				path: table.path === "" ? key : `${table.path}.${key}`,
				schema: field,
				required: required.includes(key),
				construct: prop ?? table.otherwise?.[key] ?? (key === "type" ? table.construct : undefined),
				codes: Object.entries(CODE_FIELDS)
					.filter(([, fields]) => fields.includes(id) || fields.includes(`*.${key}`))
					.map(([code]) => code),
			};
		});
	});
}

const WORDS: Readonly<Record<string, string>> = {
	string: "text",
	number: "number",
	boolean: "true or false",
	null: "null",
};

function typeText(schema: JsonSchema): string {
	const { type, minimum, maximum } = schema;
	if (schema.const !== undefined) return `\`${schema.const}\``;
	const branches = schema.anyOf ?? schema.oneOf;
	if (branches) return [...new Set(branches.map(typeText))].join(" or ");
	if (Array.isArray(type)) return type.map((one: string) => WORDS[one] ?? one).join(" or ");
	switch (type) {
		case "integer":
			return maximum === 65535 ? "port" : `whole number from ${minimum}`;
		case "array":
			return `list of ${typeText(schema.items as JsonSchema)}`;
		case "object":
			if (typeof schema.additionalProperties !== "object") return "mapping";
			return `mapping of names to ${typeText(schema.additionalProperties)}`;
		default:
			return WORDS[String(type)] ?? "any value";
	}
}

function defaultText({ schema, required }: Field): string {
	if (required) return "required";
	return schema.default === undefined ? "–" : `\`${JSON.stringify(schema.default)}\``;
}

/** Rows with cells padded to one width a column, as the formatter of the pages has them. */
function tableText(rows: readonly (readonly string[])[]): string {
	const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
	const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
	const [head, ...body] = rows.map((row) => line(row.map((cell, column) => cell.padEnd(widths[column]!))));
	return [head, line(widths.map((width) => "-".repeat(width))), ...body].join("\n");
}

function section(table: Table, fields: readonly Field[]): string {
	const rows = fields.map((field) => [
		`\`${field.id.slice(field.id.indexOf(".") + 1)}\``,
		typeText(field.schema),
		defaultText(field),
		String(field.schema.description ?? ""),
		field.construct === undefined ? "–" : `\`${field.construct}\``,
		field.codes.map((code) => `\`${code}\``).join(", "),
	]);
	const head = ["field", "type", "default", "meaning", "construct", "codes"];
	const where = table.path === "" ? "" : `\`${table.path}\`${table.also ?? ""}\n\n`;
	return `## ${table.title}\n\n${where}${tableText([head, ...rows])}\n`;
}

/** The whole page. */
export function submitReference(): string {
	const fields = submitFields();
	const sections = TABLES.map((table) =>
		section(
			table,
			fields.filter(({ id }) => id.startsWith(`${table.id}.`)),
		),
	);
	return `# The submit document

Every field of a submit document, and what sets it in a gymfile. \`node scripts/docs.js\` makes this page from the schema
and the types of the constructs: change those. \`gym schema\` prints the same as JSON Schema, for editors.

A \`*\` in a path is a name of yours. The last column has the [codes](errors.md) of what can be wrong or dubious about a
field. Beside them any field can be refused for its form:
${FORM_CODES.map((code) => `\`${code}\``).join(", ")}.

${sections.join("\n")}`;
}
