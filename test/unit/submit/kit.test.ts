import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadSubmitYaml } from "../../../src/load/submit-yaml.ts";
import { toPlain } from "../../../src/submit/emit.ts";
import { checkPools } from "../../../src/submit/rules/pools.ts";
import { validateDocument } from "../../../src/submit/validate.ts";

const KIT = new URL("../../conformance/kit/submit/given/", import.meta.url);

interface Expected {
	readonly case: string;
	readonly config: string | null;
	readonly outcome: "ok" | "error";
	readonly error?: { readonly at: readonly string[]; readonly kind: string };
	readonly idle_gpu_warnings: number;
	readonly overrides: readonly string[];
	readonly submit_env: Readonly<Record<string, string>>;
	readonly resolved?: unknown;
	readonly ordered?: Readonly<Record<string, readonly string[]>>;
}

/** Cases that need a file that is absent, command-line overrides, or interpolation. */
const ELSEWHERE = ["file-missing", "overrides", "override-unknown", "scratch-add"];
const INTERPOLATED = ["interpolation-env-missing", "pd-port-as-text", "scratch-keys"];

const cases = readdirSync(new URL("expected/", KIT))
	.map((name) => JSON.parse(readFileSync(new URL(`expected/${name}`, KIT), "utf8")) as Expected)
	.filter((expected) => !ELSEWHERE.includes(expected.case));

function run(expected: Expected) {
	const text = readFileSync(new URL(expected.config!, KIT), "utf8");
	const { raw, sources, problems } = loadSubmitYaml(text, "submit.yaml");
	if (problems.length > 0) return { config: null, problems };
	const hostEnv = (name: string) => expected.submit_env[name];
	const validation = validateDocument(raw, { sources, hostEnv, missingHost: "error" });
	const pools = validation.config ? checkPools(validation.config, sources) : [];
	return { config: validation.config, problems: [...validation.problems, ...pools] };
}

/** Our tree as the kit's JSON: literal `env` values without their prefix, and no `forward_env`, unknown to 0.7.0. */
function asKit(value: unknown, key = ""): unknown {
	if (Array.isArray(value)) return value.map((item) => asKit(item));
	if (typeof value === "string" && key === "env") return value.replace(/^lit:/, "");
	if (!(value instanceof Map)) return value;
	const entries = [...value].filter(([name]) => name !== "forward_env");
	return Object.fromEntries(entries.map(([name, item]) => [name, asKit(item, key === "env" ? key : name)]));
}

/** The path itself, above or below it. */
const related = (a: string, b: string) => a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`);

test("the kit is there", () => {
	expect(existsSync(KIT)).toBe(true);
	expect(cases.length).toBeGreaterThan(70);
});

describe("accepted cases resolve as the kit says", () => {
	const accepted = cases
		.filter(({ outcome }) => outcome === "ok")
		.filter((c) => !INTERPOLATED.includes(c.case));
	test.each(accepted)("$case", (expected) => {
		const { config, problems } = run(expected);
		expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
		expect(problems.filter(({ code }) => code === "idle-gpus")).toHaveLength(expected.idle_gpu_warnings);
		const plain = toPlain(config!);
		if (expected.resolved) expect(asKit(plain)).toEqual(expected.resolved);
		for (const [path, keys] of Object.entries(expected.ordered ?? {})) {
			const node = path.split(".").reduce<unknown>((at, key) => (at as Map<string, unknown>).get(key), plain);
			expect([...(node as Map<string, unknown>).keys()]).toEqual(keys);
		}
	});
});

describe("refused cases are refused where the kit says", () => {
	const refused = cases
		.filter(({ outcome }) => outcome === "error")
		.filter((c) => !INTERPOLATED.includes(c.case));
	test.each(refused)("$case", (expected) => {
		const { problems } = run(expected);
		const errors = problems.filter(({ severity }) => severity === "error");
		expect(errors).not.toEqual([]);
		const paths = expected.error!.at;
		expect(errors.some(({ at }) => paths.some((path) => related(at, path)))).toBe(true);
		for (const { source } of errors) expect(source).toMatchObject({ file: "submit.yaml" });
		// Where the kit names two fields of one kind, both are found at once.
		if (["missing", "type", "unknown_field+missing"].includes(expected.error!.kind)) {
			expect(errors.map(({ at }) => at).sort()).toEqual([...paths].sort());
		}
	});
});

describe("interpolations of ours are refused, with their place", () => {
	test.each(cases.filter((c) => INTERPOLATED.includes(c.case)))("$case", (expected) => {
		const { problems } = run(expected);
		expect(problems.length).toBeGreaterThan(0);
		for (const problem of problems) {
			expect(problem).toMatchObject({
				code: "not-yet",
				source: { file: "submit.yaml", line: expect.any(Number) },
			});
		}
	});
});
