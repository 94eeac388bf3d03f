import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CODE_FIELDS, FORM_CODES } from "../../../scripts/submit-reference/codes.ts";
import { type Field, submitFields, submitReference } from "../../../scripts/submit-reference/page.ts";
import { loadSubmitYaml } from "../../../src/load/submit-yaml.ts";
import { checkPools } from "../../../src/submit/rules/pools.ts";
import { validateDocument } from "../../../src/submit/validate.ts";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");
const fields = submitFields();

/** Codes of the sections of docs/errors.md that are about a document. */
function documentCodes(): readonly string[] {
	const sections = read("docs/errors.md").split("\n## ");
	const wanted = /^(Form of the document|Rules of the document|What a job cannot carry)\n/;
	return sections
		.filter((section) => wanted.test(section))
		.flatMap((section) => [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, code]) => code!));
}

/** Whether a problem's place is the field, above it or below it. The page has the tiers once; one name has a dot. */
function related({ path }: Field, at: string): boolean {
	const place = at
		.replaceAll(/\[\d+\]/g, "")
		.replace(".decode", ".prefill")
		.replace("My.Judge", "My-Judge")
		.split(".");
	return path
		.split(".")
		.slice(0, place.length)
		.every((step, i) => step === "*" || step === place[i]);
}

describe("docs/submit-reference.md", () => {
	it("is what scripts/docs.js writes", () => {
		expect(read("docs/submit-reference.md")).toBe(submitReference());
	});

	it("has a construct and a meaning for every field", () => {
		expect(fields.filter(({ construct }) => construct === undefined).map(({ id }) => id)).toEqual([]);
		expect(fields.filter(({ schema }) => !schema.description).map(({ id }) => id)).toEqual([]);
		expect(fields.length).toBeGreaterThan(100);
		expect(fields.find(({ id }) => id === "vllm.tensor_parallel_size")).toMatchObject({
			path: "services.*.tensor_parallel_size",
			construct: "VllmService.tensorParallelSize",
			codes: ["gpus-too-few", "gpus-shared", "idle-gpus"],
		});
	});

	it("places every code of documents at fields that exist", () => {
		const placed = [...Object.keys(CODE_FIELDS), ...FORM_CODES];
		const codes = documentCodes();
		const names = new Set(fields.flatMap(({ id }) => [id, id.replace(/^[^.]+/, "*")]));
		expect({
			missing: codes.filter((code) => !placed.includes(code)),
			unknown: placed.filter((code) => !codes.includes(code)),
			nowhere: Object.values(CODE_FIELDS)
				.flat()
				.filter((field) => !names.has(field)),
		}).toEqual({ missing: [], unknown: [], nowhere: [] });
	});

	it("places them where validation finds them", () => {
		const cases = "test/conformance/kit/submit/given/cases/";
		const found = readdirSync(new URL(cases, root)).flatMap((name) => {
			const { raw, problems } = loadSubmitYaml(read(cases + name), name);
			if (problems.length > 0) return [];
			const valid = validateDocument(raw, { hostEnv: () => undefined, missingHost: "error" });
			return [...valid.problems, ...(valid.config ? checkPools(valid.config) : [])];
		});
		const own = found.filter(({ code }) => !FORM_CODES.includes(code));
		const astray = own.filter(
			({ code, at }) => !fields.some((field) => field.codes.includes(code) && related(field, at)),
		);
		expect(astray.map(({ code, at }) => `${code} ${at}`)).toEqual([]);
		expect(new Set(own.map(({ code }) => code)).size).toBeGreaterThan(20);
	});
});
