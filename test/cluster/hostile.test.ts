/** Text that some shell, directive or parser on the way reads specially arrives as it was written. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hydraTokens, hydraValue } from "../../src/job/hydra.ts";
import type { Value } from "../../src/submit/config.ts";
import { clusterInfo, on } from "../setup/cluster.ts";
import { labDocument, project } from "./gym.ts";
import { runDirs, settled } from "./runs.ts";
import { makeFolder, stubFolder } from "./stub-folder.ts";

const HOSTILE = `it's "so" \\ $HOME \${HOME} $(touch x) \`id\` * {a,b} & ; | < > # !! %s é 漢 😀`;
const LINES = `\n one\n\tSTEP\nSTEP\nCOMMAND\nEOF\r\n${HOSTILE}\n\n`;

const ENV = {
	PLAIN: HOSTILE,
	LINES,
	EMPTY: "",
	PREFIXED: "host:HOME",
	lower_case: " spaces  around ",
	CONTROL: "\u0001\u001b[0m\u007f",
	PS4: "$(touch x)",
};

const VALUES = {
	text: HOSTILE,
	lines: LINES,
	numeric: "0123",
	number: 1e-7,
	yes: true,
	"yes-text": "true",
	nothing: null,
	list: [HOSTILE, 1, null, { "a.b": "c,d", "e=f": ["[", "}"] }],
	empty: { map: {}, list: [], text: "" },
	deep: { "1": { key: "'" } },
};

const lit = (values: Readonly<Record<string, string>>) =>
	Object.fromEntries(Object.entries(values).map(([name, value]) => [name, `lit:${value}`]));

/** In a submit YAML, `${` is an interpolation unless it is escaped. */
function escaped(plain: unknown): unknown {
	if (typeof plain === "string") return plain.replaceAll(/(\\*)\$\{/g, "$1$1\\${");
	if (Array.isArray(plain)) return plain.map(escaped);
	if (typeof plain !== "object" || plain === null) return plain;
	return Object.fromEntries(Object.entries(plain).map(([key, item]) => [key, escaped(item)]));
}

function documentValue(plain: unknown): Value {
	if (Array.isArray(plain)) return plain.map(documentValue);
	if (typeof plain !== "object" || plain === null) return plain as Value;
	return new Map(Object.entries(plain).map(([key, item]) => [key, documentValue(item)]));
}

it("arrives in programs, directives and files as it was written", async () => {
	const one = await project();
	const stubs = await stubFolder();
	const data = await makeFolder(join(stubs.path, "data set #1"));
	await writeFile(join(data, "it's here"), "found");
	const outputPath = `${one.outputPath}/my evals #1 & (all) é`;
	const seen = (name: string) => readFile(join(stubs.path, name), "utf8");
	await stubs.gate("held");

	const model = `acme/my model ${HOSTILE}`;
	const comment = `run #3 of "4" $HOME \\n it's é`;
	const { services, ...document } = labDocument({
		outputPath,
		compute: { forward_env: ["HF_HOME"], extra_args: { comment, "job-name": "my job's #1" } },
		policy: {
			model,
			health_check: {},
			served_model_name: HOSTILE,
			env: { ...stubs.env, ...lit(ENV), HF_HOME: "runtime:HF_HOME" },
			mounts: [`${data}:/mnt data/in`, `${data}:/mnt data/read only:ro`],
			extra_args: `--hf-overrides '{"a": ["it'\\''s", "$HOME", "\\n"]}' --chat-template "a  b"\\''c'  `,
			pre_command: [
				`cat >'${stubs.path}/pre' <<'EOF' # it's "here`,
				HOSTILE,
				"dos\r",
				"STEP",
				"EOF",
				`ls -A '${clusterInfo().outputRoot}' >'${stubs.path}/hidden'`,
				`cat "/mnt data/in/it's here" "/mnt data/read only/it's here" >'${stubs.path}/mounted'`,
				`touch "/mnt data/read only/new" 2>'${stubs.path}/refused' && exit 1`,
				`export PRE="$PLAIN" # the service's own shell`,
			].join("\n"),
		},
		driver: {
			env: { ...stubs.env, ...lit(ENV), HF_HOME: `lit:${HOSTILE}` },
			mounts: [`${data}:/mnt data`],
			policy_model: "Pol icy.#1 $x",
		},
		benchmarks: {
			"if.eval_2-B": { prepare: VALUES, run: VALUES },
			"-cmd.": {
				command: [
					`cat >"$NEMO_GYM_BENCH_DIR/artifacts/said" <<'COMMAND' || exit`,
					HOSTILE,
					"dos\r",
					"STEP",
					"COMMAND",
					`cat >>"$NEMO_GYM_BENCH_DIR/artifacts/said" <<STEP || exit`,
					"$NEMO_GYM_POLICY_MODEL_NAME",
					"STEP",
					`ls "$NEMO_GYM_BENCH_DIR" >'${stubs.path}/driver-sees'`,
					`exec record '${stubs.path}/command.json' 'a "b' $'c\\nd' ""`,
				].join("\n"),
			},
		},
	});
	await one.write(escaped({ services: { "Pol icy.#1 $x": services.policy }, ...document }));

	const applied = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"], { HF_HOME: "the job's own" });
	expect(applied.code, applied.text).toBe(0);
	await stubs.arrived("held", 3);
	const { stdout } = await on("ctl", "squeue", "-h", "-o", "%Z|%j|%k");
	const row = stdout.split("\n").find((line) => line.startsWith(outputPath));
	expect(row?.slice(row.indexOf("|") + 1)).toBe(`my job's #1|${comment}`);
	await stubs.open("held");
	await settled(one);
	const status = await one.gym(["status", "-f", "lab.yaml", "-json"]);
	expect(status.stdout.match(/"status":"succeeded"/g), status.text).toHaveLength(2);

	const records = await stubs.records();
	const servers = records.filter(({ program }) => program === "vllm");
	expect(servers).toHaveLength(2);
	for (const server of servers) {
		expect(server.argv).toEqual([
			...["vllm", "serve", model, "--port", "8000", "--tensor-parallel-size", "8"],
			...["--served-model-name", HOSTILE],
			...["--hf-overrides", `{"a": ["it's", "$HOME", "\\n"]}`, "--chat-template", "a  b'c"],
		]);
		expect(server.env).toMatchObject({ ...ENV, HF_HOME: "the job's own", PRE: HOSTILE });
	}
	const tokens = hydraTokens(documentValue(VALUES) as ReadonlyMap<string, Value>, { prefix: "+" });
	for (const verb of ["prepare", "run"]) {
		const { argv, env } = records.find((record) => record.program === "gym" && record.argv.includes(verb))!;
		expect(argv).toEqual(expect.arrayContaining([...tokens]));
		expect(env).toMatchObject({ ...ENV, HF_HOME: HOSTILE });
	}
	const [runDir] = await runDirs({ ...one, outputPath });
	const run = records.find((record) => record.argv.includes("run"))!;
	expect(run.argv).toContain(`+policy_model_name=${hydraValue(HOSTILE)}`);
	expect(run.argv.find((word) => word.startsWith("+output_jsonl_fpath="))).toContain(
		`${runDir}/if.eval_2-B/artifacts/rollouts.jsonl`,
	);

	expect(await seen("pre")).toBe(`${HOSTILE}\ndos\r\nSTEP\n`);
	expect(await seen("mounted")).toBe("foundfound");
	expect(await seen("refused")).toContain("Read-only");
	if (clusterInfo().hasHiding) expect(await seen("hidden")).toBe("");
	expect(await seen("driver-sees")).toContain("job.sh\n");
	const command = JSON.parse(await seen("command.json"));
	expect(command.argv.slice(2)).toEqual(['a "b', "c\nd", ""]);
	expect(command.env).toMatchObject({ ...ENV, HF_HOME: HOSTILE });
	expect(await readFile(`${runDir}/-cmd./artifacts/said`, "utf8")).toBe(
		`${HOSTILE}\ndos\r\nSTEP\n${HOSTILE}\n`,
	);

	const again = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
	expect(again.code, again.text).toBe(0);
});
