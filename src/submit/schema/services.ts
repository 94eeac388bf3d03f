/** `services`: vllm, vllm_pd and ray. */
import * as z from "zod";
import { checked } from "./issue.ts";
import { asObject, env, mounts, named, struct } from "./mapping.ts";
import { amount, count, line, port, seconds, text, toggle } from "./scalar.ts";

/** Whether a service must name its container: not when the job runs as processes of this machine. */
export type Containers = "required" | "optional";

const healthCheck = struct({
	path: checked(line().default("/health"), (path) =>
		/^\/\S*$/.test(path)
			? undefined
			: {
					code: "bad-health-path",
					message: `${JSON.stringify(path)} is not a path`,
					remedy: "start it with /",
				},
	).describe("Path that answers 200 when the service is ready"),
	port: port().nullable().default(null).describe("Port to probe; default: the service's own"),
	timeout_seconds: seconds().default(60).describe("How long the service may take to answer"),
})
	.nullable()
	.default(null)
	.describe("Endpoint the job waits for before the benchmark starts");

const nodePool = line()
	.nullable()
	.default(null)
	.describe("Pool whose nodes the service runs on; null: the whole allocation");
const servedModelName = line()
	.nullable()
	.default(null)
	.describe("Name the model is served under; null: the model itself");

/** Fields of every service, apart from the container. */
const common = () => ({
	placement: line().nullable().default(null).describe("Name of the compute entry; filled in"),
	health_check: healthCheck,
	env: env(),
	mounts: mounts(),
	pre_command: text()
		.default("")
		.describe("Shell statements run before the service's command, in the same shell"),
});

const container = (containers: Containers) => {
	const image = line().describe("Container image the service runs in");
	return containers === "required" ? image : z.string().default("").describe("Ignored: no containers here");
};

/** What vllm services and the tiers of a vllm_pd service share. */
const vllmFields = () => ({
	...common(),
	node_pool: nodePool,
	served_model_name: servedModelName,
	tensor_parallel_size: count(1).default(1).describe("GPUs that share each layer of one instance"),
	pipeline_parallel_size: count(1).default(1).describe("Stages of one instance"),
	number_of_instances: count(1).default(1).describe("Copies of the model (data parallel)"),
	trust_remote_code: toggle().default(false).describe("Adds --trust-remote-code"),
	use_ray_serve: toggle().default(false).describe("Always use the Ray Serve gateway"),
	extra_args: text().default("").describe("Flags added verbatim to vllm serve"),
});

const vllm = (containers: Containers) =>
	z.strictObject({
		type: z.literal("vllm").describe("A vLLM server"),
		container: container(containers),
		model: line().describe("Model name or path"),
		port: port().default(8000).describe("Port the server listens on"),
		...vllmFields(),
		data_parallel_rpc_port: port()
			.default(13345)
			.describe("Port on which data-parallel ranks of several nodes meet"),
	});

/** A tier: what it leaves out comes from the vllm_pd entry (`wiring.ts`). */
const tier = () =>
	struct({
		type: z.literal("vllm").default("vllm").describe("A tier is a vLLM server"),
		container: line().optional().describe("Default: the entry's container"),
		model: line().optional().describe("Default: the entry's model"),
		port: port().optional().describe("Default: the entry's port + 1 (prefill), + 2 (decode)"),
		...vllmFields(),
		data_parallel_rpc_port: port().optional().describe("Default: 13345; decode: prefill's + 1"),
	});

const vllmPd = (containers: Containers) =>
	z.strictObject({
		type: z.literal("vllm_pd").describe("Prefill and decode on separate vLLM servers behind a router"),
		container: container(containers),
		model: line().describe("Model of both tiers"),
		served_model_name: servedModelName,
		port: port().default(8000).describe("The router's port"),
		...common(),
		node_pool: nodePool,
		prefill: tier().describe("The prefill tier"),
		decode: tier().describe("The decode tier"),
		server_per_node: toggle().default(false).describe("An independent server on every node of a tier"),
		nixl_side_channel_port: port().default(5600).describe("Prefill's NIXL side-channel port; decode: plus 1"),
		prefill_policy: line().default("cache_aware").describe("Router policy for prefill"),
		decode_policy: line().default("cache_aware").describe("Router policy for decode"),
		intra_node_data_parallel_size: count(1).default(1).describe("Passed to the router"),
		request_timeout_secs: seconds().default(86400).describe("Router request timeout in seconds"),
		log_level: line().default("error").describe("Router log level"),
		kv_connector: line().default("NixlConnector").describe("Key-value transfer connector of both tiers"),
		kv_load_failure_policy: line().default("fail").describe("fail: a broken transfer is an error"),
	});

const ray = (containers: Containers) =>
	z.strictObject({
		type: z.literal("ray").describe("A Ray cluster"),
		container: container(containers),
		...common(),
		node_pool: checked(z.unknown().default(null), (pool) =>
			pool === null
				? undefined
				: {
						code: "ray-node-pool",
						message: "a ray service has no node_pool",
						remedy: "list its pools in node_pools",
					},
		)
			.transform(() => null)
			.describe("Not for ray: see node_pools"),
		node_pools: z
			.array(line())
			.default(() => [])
			.describe("Pools the cluster spans; empty: one node"),
		port: port().default(6379).describe("Port of the head"),
		resources: named(named(amount()))
			.default(() => new Map())
			.describe("Custom Ray resources: pool, resource, amount"),
		num_cpus: count().nullable().default(null).describe("CPUs per node told to Ray"),
		num_gpus: count().nullable().default(null).describe("GPUs per node told to Ray"),
		extra_args: text().default("").describe("Flags added verbatim to ray start"),
	});

/** The mapping of services. */
export function services(containers: Containers) {
	const kinds = z.discriminatedUnion("type", [vllm(containers), vllmPd(containers), ray(containers)]);
	return named(z.preprocess(asObject, kinds)).describe("Servers that every job starts, by name");
}
