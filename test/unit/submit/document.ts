/** A small valid document for tests, as YAML that each test adds to. */
import { loadSubmitYaml } from "../../../src/load/submit-yaml.ts";
import { type ValidateOptions, type Validation, validateDocument } from "../../../src/submit/validate.ts";

/** Sections of a document; each can be replaced. */
export interface Sections {
	readonly services?: string;
	readonly compute?: string;
	readonly driver?: string;
	readonly job?: string;
	readonly otel?: string;
}

const POLICY = "{policy: {type: vllm, container: c:1, model: m, tensor_parallel_size: 4}}";
const CLUSTER = "{lab: {type: slurm, account: a, node_pools: {gpu: {partition: p, gpus_per_node: 4}}}}";
const DRIVER = "{policy_model: policy, benchmarks: {sums: {run: {split: dev}}}}";

/** The document's text; sections are flow mappings. */
export function documentText(sections: Sections = {}): string {
	const { services = POLICY, compute = CLUSTER, driver = DRIVER, job = "{output_path: /evals}" } = sections;
	const { otel = "{enabled: false}" } = sections;
	return `services: ${services}\ncompute: ${compute}\ndriver: ${driver}\njob: ${job}\notel: ${otel}\n`;
}

/** Loads and validates; throws when the YAML itself is not readable. */
export function validate(sections: Sections = {}, options: Partial<ValidateOptions> = {}): Validation {
	const { raw, sources, problems } = loadSubmitYaml(documentText(sections), "submit.yaml");
	if (problems.length > 0) throw new Error(JSON.stringify(problems));
	return validateDocument(raw, { sources, hostEnv: () => undefined, missingHost: "error", ...options });
}

/** Findings as `severity code at`, in order. */
export function findings(sections: Sections = {}, options: Partial<ValidateOptions> = {}): readonly string[] {
	return validate(sections, options).problems.map(({ severity, code, at }) => `${severity} ${code} ${at}`);
}

/** A vllm service with more fields. */
export const vllm = (fields: string) => `{type: vllm, container: c, model: m, ${fields}}`;
/** The services section. */
export const services = (...entries: string[]): Sections => ({ services: `{${entries.join(", ")}}` });
/** The compute section with more fields. */
export const slurm = (fields: string) => `{lab: {type: slurm, account: a, ${fields}}}`;
/** The compute section with these pools. */
export const pools = (...entries: string[]) => slurm(`node_pools: {${entries.join(", ")}}`);
/** A pool. */
export const gpu = (nodes: number, gpus = 4, name = "gpu") =>
	`${name}: {partition: p, nodes: ${nodes}, gpus_per_node: ${gpus}}`;
/** The driver section with more fields. */
export const driver = (fields: string) => `{benchmarks: {sums: {run: {x: 1}}}, ${fields}}`;
/** A driver without policy. */
export const noPolicy = driver("");
/** A vllm_pd service `duo` on the pools `pre` and `dec`. */
export const pd = (fields: string) =>
	`duo: {type: vllm_pd, container: c, model: m, prefill: {node_pool: pre, tensor_parallel_size: 4}, ` +
	`decode: {node_pool: dec, tensor_parallel_size: 4}, ${fields}}`;
/** The pools of `pd`: a node of 4 GPUs each. */
export const pdPools = pools(gpu(1, 4, "pre"), gpu(1, 4, "dec"));
