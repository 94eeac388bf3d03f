import fc from "fast-check";
import { expect, test } from "vitest";
import { buildJob } from "../../src/job/build.ts";
import { hydraTokens } from "../../src/job/hydra.ts";
import { quote } from "../../src/job/script/quote.ts";
import { secretReferences } from "../../src/job/secrets.ts";
import type { Value } from "../../src/submit/config.ts";
import { float } from "../../src/submit/float.ts";
import { validateDocument } from "../../src/submit/validate.ts";
import { document, map } from "../unit/job/document.ts";
import { runJob } from "./run-script.ts";

const SHELL = [
	"'",
	'"',
	"\\",
	"$",
	"`",
	"$(touch HIT)",
	"${x}",
	"\n",
	" ",
	"#",
	";",
	"&",
	"*",
	"~",
	"STEP",
	"\nSTEP\n",
	"!",
	"\r",
	"\t",
	"\x01",
	"\x7f",
	"é",
	"𝄞",
	"EOF",
	"%",
	"-",
];
/** Text that shells, Slurm and Hydra read specially, without NUL. */
const hostile = fc.oneof(
	fc.string({ unit: fc.constantFrom(...SHELL), maxLength: 12 }),
	fc.string({ unit: "binary", maxLength: 20 }).map((text) => text.replaceAll("\0", "")),
);
const line = hostile.map((text) => text.replace(/[\x00-\x1f\x7f]/g, "")).filter((text) => text.trim() !== "");
const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
	value: fc.oneof(
		{ depthSize: "small" },
		hostile,
		fc.integer(),
		fc.integer().map(float),
		fc.boolean(),
		fc.constant(null),
		fc.array(tie("value"), { maxLength: 3 }),
		fc
			.dictionary(fc.constantFrom("a", "b_c", "x.y"), tie("value"), { maxKeys: 2 })
			.map((entries) => new Map(Object.entries(entries))),
	),
})).value;

const names = (prefix: string, values: readonly unknown[]) =>
	values.map((entry, i) => [`${prefix}${i}`, entry] as const);

test("every value reaches its program byte for byte, or is refused with its path", async () => {
	let compared = 0;
	await fc.assert(
		fc.asyncProperty(
			fc.record({
				lits: fc.array(hostile, { maxLength: 4 }),
				secrets: fc.array(hostile, { maxLength: 3 }),
				live: fc.array(hostile, { maxLength: 3 }),
				extra: fc.array(
					hostile.filter((text) => text !== ""),
					{ maxLength: 3 },
				),
				pre: hostile,
				model: line,
				served: line,
				container: line,
				mount: fc.string({
					unit: fc.constantFrom("a", " ", "'", '"', "\\", "`", "(", ")", ";", "#", "é", "*"),
					maxLength: 8,
				}),
				run: fc.array(value, { maxLength: 4 }),
				prepare: fc.array(value, { maxLength: 2 }),
			}),
			async (given) => {
				const env = map({
					...Object.fromEntries(
						names(
							"LIT",
							given.lits.map((text) => `lit:${text}`),
						),
					),
					...Object.fromEntries(
						names(
							"HIDDEN",
							given.secrets.map((_, i) => `host:SHELL${i}`),
						),
					),
					...Object.fromEntries(
						names(
							"LIVE",
							given.live.map((_, i) => `runtime:JOB${i}`),
						),
					),
				});
				const host = new Map(names("SHELL", given.secrets) as [string, string][]);
				const run = new Map(names("r", given.run)) as ReadonlyMap<string, Value>;
				const prepare = new Map(names("p", given.prepare)) as ReadonlyMap<string, Value>;
				const raw = document({
					service: {
						env,
						container: given.container,
						mounts: [`/w${given.mount}:/in:ro`, `/v${given.mount}`],
						model: given.model,
						served_model_name: given.served,
						pre_command: `export PRE=${quote(given.pre)}`,
						extra_args: given.extra.map((word) => `--x ${quote(word)}`).join(" "),
					},
					driver: { env, container: given.container },
					benchmark: { run, prepare },
				});
				const { config, problems } = validateDocument(raw, {
					hostEnv: (name) => host.get(name),
					missingHost: "error",
				});
				if (config === null) {
					expect(problems.every(({ severity, at }) => severity !== "error" || at !== "")).toBe(true);
					return;
				}
				const built = buildJob(config, "sums", { stack: "lab" });
				if (built.job === null) {
					expect(built.problems.every(({ at }) => at !== "")).toBe(true);
					return;
				}
				const ran = await runJob(built.job, {
					host,
					env: Object.fromEntries(names("JOB", given.live)) as Record<string, string>,
				});
				expect(ran.code, ran.stderr).toBe(0);
				expect(ran.file("HIT")).toBeNull();
				for (const program of ["vllm", "gym-run"]) {
					const seen = ran.env(program);
					expect(given.lits.map((_, i) => seen.get(`LIT${i}`))).toEqual(given.lits);
					expect(given.secrets.map((_, i) => seen.get(`HIDDEN${i}`))).toEqual(given.secrets);
					expect(given.live.map((_, i) => seen.get(`LIVE${i}`))).toEqual(given.live);
					expect([...seen.keys()].filter((name) => name.startsWith("GYM_E"))).toEqual([]);
				}
				expect(ran.env("vllm").get("PRE")).toBe(given.pre);
				expect(ran.args("vllm")).toEqual([
					"serve",
					given.model,
					...["--port", "8000", "--tensor-parallel-size", "4", "--served-model-name", given.served],
					...given.extra.flatMap((word) => ["--x", word]),
				]);
				expect(ran.args("srun-speaker")).toContain(`--container-image=${given.container}`);
				expect(ran.args("srun-speaker")).toContain(
					`--container-mounts=/w${given.mount}:/in:ro,/v${given.mount}`,
				);
				const tokens = (part: ReadonlyMap<string, Value>) => hydraTokens(part, { prefix: "+" });
				expect(ran.args("gym-run")).toEqual(expect.arrayContaining([...tokens(run)]));
				if (prepare.size > 0)
					expect(ran.args("gym-prepare")).toEqual(["eval", "prepare", ...tokens(prepare)]);
				expect(secretReferences(built.job)).toHaveLength(2 * given.secrets.length);
				expect(ran.file(".env")).toBeNull();
				compared++;
			},
		),
		{ numRuns: 40 },
	);
	expect(compared).toBeGreaterThan(20);
});

test("a benchmark's own command runs as written", async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 5 }), async (words) => {
			const command = `cat >/dev/null <<'COMMAND'\nit's $HOME\nCOMMAND\nharness ${words.map(quote).join(" ")} "$NEMO_GYM_POLICY_BASE_URL"\n`;
			const { config } = validateDocument(document({ benchmark: { command } }), {
				hostEnv: () => "",
				missingHost: "error",
			});
			const { job } = buildJob(config!, "sums", { stack: "lab" });
			const ran = await runJob(job!);
			expect(ran.code, ran.stderr).toBe(0);
			expect(ran.args("harness")).toEqual([...words, "http://localhost:8000/v1"]);
		}),
		{ numRuns: 15 },
	);
});
