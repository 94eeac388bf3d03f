/** Fills in what one field takes from another: placement, health checks, tiers; and what the policy gives to runs. */
import type {
	BenchmarkConfig,
	HealthCheck,
	ServiceConfig,
	SubmitConfig,
	Value,
	VllmConfig,
} from "./config.ts";
import type { ParsedDocument } from "./schema/document.ts";

type Parsed<Type extends string> = Extract<
	ParsedDocument["services"] extends Map<string, infer S> ? S : never,
	{ readonly type: Type }
>;
type ParsedPd = Parsed<"vllm_pd">;

/** vLLM's default, and the peer's. */
const RPC_PORT = 13345;

/** Keys of `run` that a policy service gives to every benchmark. */
export const POLICY_KEYS = ["policy_base_url", "policy_model_name", "policy_api_key"] as const;

/** The probe of a model server: `/health` on its own port unless the user says otherwise. */
function probe(given: HealthCheck | null, port: number): HealthCheck {
	return {
		path: given?.path ?? "/health",
		port: given?.port ?? port,
		timeout_seconds: given?.timeout_seconds ?? 60,
	};
}

function fillTier(
	entry: ParsedPd,
	tier: ParsedPd["prefill"],
	defaultPort: number,
	defaultRpcPort: number,
): VllmConfig {
	const { type, container = entry.container, model = entry.model, port = defaultPort, ...rest } = tier;
	return {
		type,
		container,
		model,
		port,
		...rest,
		served_model_name: tier.served_model_name ?? entry.served_model_name,
		health_check: probe(tier.health_check, port),
		data_parallel_rpc_port: tier.data_parallel_rpc_port ?? defaultRpcPort,
	};
}

function fillService(service: Parsed<string>, compute: string): ServiceConfig {
	const placement = service.placement ?? compute;
	switch (service.type) {
		case "vllm":
			return { ...service, placement, health_check: probe(service.health_check, service.port) };
		case "vllm_pd": {
			const prefill = fillTier(service, service.prefill, service.port + 1, RPC_PORT);
			const decode = fillTier(service, service.decode, service.port + 2, prefill.data_parallel_rpc_port + 1);
			return {
				...service,
				placement,
				health_check: probe(service.health_check, service.port),
				prefill,
				decode,
			};
		}
		case "ray": {
			// Awaited only when the user asks for it, then on the head's port unless they name one.
			const health_check = service.health_check && probe(service.health_check, service.port);
			return { ...service, placement, health_check };
		}
	}
}

/** Everything except the policy's keys in `run`. */
export function fillDocument(document: ParsedDocument): SubmitConfig {
	const [compute = ""] = document.compute.keys();
	const services = new Map(
		[...document.services].map(([name, service]) => [name, fillService(service, compute)]),
	);
	return { ...document, services };
}

/** The keys that the policy service gives to each benchmark's `run`; null when no model service is wired. */
export function policyWiring(config: SubmitConfig): ReadonlyMap<string, Value> | null {
	const { policy_model, policy_host } = config.driver;
	const policy = policy_model === null ? undefined : config.services.get(policy_model);
	if (!policy || policy.type === "ray") return null;
	const values = [
		`http://${policy_host}:${policy.port}/v1`,
		policy.served_model_name ?? policy.model,
		"dummy",
	];
	return new Map(POLICY_KEYS.map((key, index) => [key, values[index]!]));
}

/** Gives the policy's keys to every benchmark. */
export function wirePolicy(config: SubmitConfig): SubmitConfig {
	const wiring = policyWiring(config);
	if (!wiring) return config;
	// A command benchmark runs no `gym eval run`, but finds the same values in its `run`, as with the peer.
	const wired = (benchmark: BenchmarkConfig): BenchmarkConfig => ({
		...benchmark,
		run: new Map([...benchmark.run, ...wiring]),
	});
	const benchmarks = new Map(
		[...config.driver.benchmarks].map(([name, benchmark]) => [name, wired(benchmark)]),
	);
	return { ...config, driver: { ...config.driver, benchmarks } };
}
