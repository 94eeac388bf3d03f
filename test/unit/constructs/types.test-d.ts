/** What must and what must not compile. Checked by tsc; nothing here runs. */
import { expectTypeOf } from "expect-type";
import type {
	BenchmarkProps,
	DriverProps,
	EvalStack,
	EvalStackProps,
	GymInstallProps,
	HealthCheckProps,
	LocalComputeProps,
	NodePool,
	NodePoolProps,
	OtelProps,
	RayClusterProps,
	ResumableProps,
	SlurmComputeProps,
	VllmPdServiceProps,
	VllmServiceProps,
	VllmTierProps,
} from "../../../constructs/index.ts";
import {
	Benchmark,
	Driver,
	float,
	host,
	isKind,
	LocalCompute,
	lit,
	Otel,
	RayCluster,
	SlurmCompute,
	VllmPdService,
	VllmService,
} from "../../../constructs/index.ts";
import type {
	BenchmarkConfig,
	DriverConfig,
	HealthCheck,
	LocalConfig,
	NodePoolConfig,
	OtelConfig,
	RayConfig,
	ResumableConfig,
	SlurmConfig,
	SubmitConfig,
	VllmConfig,
	VllmPdConfig,
} from "../../../src/submit/config.ts";

/** `nodePool` → `node_pool`, as types. */
type Snake<T> = T extends `${infer First}${infer Rest}`
	? `${First extends Uppercase<First> ? (First extends Lowercase<First> ? First : `_${Lowercase<First>}`) : First}${Snake<Rest>}`
	: "";
type Keys<Props> = Snake<keyof Props & string>;
type Fields<Config> = Exclude<keyof Config & string, "type">;

// Every field of the document has a prop, and every prop but the engine's own a field.
expectTypeOf<Keys<VllmServiceProps>>().toEqualTypeOf<Fields<VllmConfig>>();
expectTypeOf<Keys<VllmTierProps>>().toEqualTypeOf<Fields<VllmConfig>>();
expectTypeOf<Keys<VllmPdServiceProps>>().toEqualTypeOf<Fields<VllmPdConfig>>();
// A Ray cluster has a list of pools; the single one is in the document only to be refused.
expectTypeOf<Keys<RayClusterProps>>().toEqualTypeOf<Exclude<Fields<RayConfig>, "node_pool">>();
expectTypeOf<Keys<SlurmComputeProps>>().toEqualTypeOf<Fields<SlurmConfig>>();
expectTypeOf<Keys<LocalComputeProps>>().toEqualTypeOf<Fields<LocalConfig>>();
expectTypeOf<Keys<NodePoolProps>>().toEqualTypeOf<Fields<NodePoolConfig>>();
expectTypeOf<Keys<HealthCheckProps>>().toEqualTypeOf<Fields<HealthCheck>>();
expectTypeOf<Keys<DriverProps>>().toEqualTypeOf<Exclude<Fields<DriverConfig>, "benchmarks">>();
expectTypeOf<Keys<GymInstallProps>>().toEqualTypeOf<Fields<NonNullable<DriverConfig["gym_install"]>>>();
expectTypeOf<Keys<Omit<BenchmarkProps, "lifecycle">>>().toEqualTypeOf<Fields<BenchmarkConfig>>();
expectTypeOf<Keys<ResumableProps>>().toEqualTypeOf<Fields<ResumableConfig>>();
expectTypeOf<Keys<OtelProps>>().toEqualTypeOf<Fields<OtelConfig>>();
expectTypeOf<Keys<EvalStackProps>>().toEqualTypeOf<Fields<SubmitConfig["job"]>>();

declare const stack: EvalStack;

const cluster = new SlurmCompute(stack, "lab", {
	account: "a",
	nodePools: { gpu: { partition: "q" }, aux: { partition: "q" } },
});
expectTypeOf(cluster.pool("gpu")).toEqualTypeOf<NodePool>();
// @ts-expect-error no such pool
cluster.pool("gpus");

const listed = new SlurmCompute(stack, "lab", { account: "a", nodePools: [["10", { partition: "q" }]] });
listed.pool("10");
// @ts-expect-error no such pool
listed.pool("9");

const bare = new SlurmCompute(stack, "lab", { account: "a" });
// @ts-expect-error it has no pools
bare.pool("gpu");
expectTypeOf(bare.addPool("gpu", { partition: "q" })).toEqualTypeOf<NodePool>();

const computed: Record<string, NodePoolProps> = {};
new SlurmCompute(stack, "lab", { account: "a", nodePools: computed }).pool("any");

const policy = new VllmService(stack, "policy", {
	model: "m",
	nodePool: cluster.pool("gpu"),
	placement: cluster,
	env: { A: lit("1"), B: host("B") },
});
// @ts-expect-error where an env value comes from must be said
new VllmService(stack, "s", { model: "m", env: { A: "1" } });
// @ts-expect-error a pool is referred to by object
new VllmService(stack, "s", { model: "m", nodePool: "gpu" });
// @ts-expect-error the model is required
new VllmService(stack, "s", {});
// @ts-expect-error no such prop
new VllmService(stack, "s", { model: "m", tensorParalellSize: 2 });

new Driver(stack, "driver", { policyModel: policy });
// @ts-expect-error a service is referred to by object
new Driver(stack, "driver", { policyModel: "policy" });
// @ts-expect-error a Ray cluster serves no model
new Driver(stack, "driver", { policyModel: new RayCluster(stack, "ray", {}) });
// @ts-expect-error a compute is no policy
new Driver(stack, "driver", { policyModel: new LocalCompute(stack, "here") });

new Benchmark(stack, "b", { run: { a: [1, { b: null }], c: new Map([["10", true]]), d: [float(1)] } });
// @ts-expect-error floats are for run and prepare
new VllmService(stack, "s", { model: "m", port: float(8000) });
// @ts-expect-error not a value that a document can hold
new Benchmark(stack, "b", { run: { at: new Date() } });
// @ts-expect-error env values are for env
new Benchmark(stack, "b", { run: { key: host("KEY") } });
// @ts-expect-error no such rule
new Benchmark(stack, "b", { lifecycle: { onChange: "ignore" } });

// A script takes the place of `gym eval run`: nothing that only `gym eval run` reads stands beside it.
new Benchmark(stack, "b", { command: "make eval" });
new Benchmark(stack, "b", {
	command: "make eval",
	prepare: { split: "dev" },
	resumable: false,
	lifecycle: {},
});
new Benchmark(stack, "b", { command: null, run: { x: 1 }, resumable: { maxRetries: 1 } });
// @ts-expect-error a command has no run
new Benchmark(stack, "b", { command: "make eval", run: { x: 1 } });
// @ts-expect-error a command cannot go on
new Benchmark(stack, "b", { command: "make eval", resumable: true });
// @ts-expect-error a command cannot go on
new Benchmark(stack, "b", { command: "make eval", resumable: { maxRetries: 1 } });

// A Ray cluster spans pools; each tier of a prefill/decode service is bound to one.
new RayCluster(stack, "ray", {
	nodePools: [cluster.pool("gpu")],
	resources: [[cluster.pool("aux"), { x: 1 }]],
});
// @ts-expect-error it has a list of pools
new RayCluster(stack, "ray", { nodePool: cluster.pool("gpu") });
// @ts-expect-error pools are referred to by object
new RayCluster(stack, "ray", { nodePools: ["gpu"] });
// @ts-expect-error resources belong to pools
new RayCluster(stack, "ray", { resources: { aux: { x: 1 } } });
// @ts-expect-error it serves no model
new RayCluster(stack, "ray", { model: "m" });

const prefill = { nodePool: cluster.pool("gpu") };
const decode = { nodePool: cluster.pool("aux"), tensorParallelSize: 4, port: 8100 };
const split = new VllmPdService(stack, "split", {
	model: "m",
	prefill,
	decode,
	serverPerNode: true,
	nixlSideChannelPort: 5700,
});
new Driver(stack, "driver", { policyModel: split });
// @ts-expect-error it has two tiers
new VllmPdService(stack, "split", { model: "m", prefill });
// @ts-expect-error a tier needs a pool
new VllmPdService(stack, "split", { model: "m", prefill, decode: { tensorParallelSize: 4 } });
// @ts-expect-error a tier needs a pool
new VllmPdService(stack, "split", { model: "m", prefill, decode: { nodePool: null } });
// @ts-expect-error how many servers there are is said for both tiers
new VllmPdService(stack, "split", { model: "m", prefill, decode: { ...decode, serverPerNode: true } });
// @ts-expect-error the side channel is said for both tiers
new VllmPdService(stack, "split", { model: "m", prefill, decode: { ...decode, nixlSideChannelPort: 5700 } });
// @ts-expect-error so is the connector
new VllmPdService(stack, "split", { model: "m", prefill: { ...prefill, kvConnector: "X" }, decode });
// @ts-expect-error a vLLM server has no tiers
new VllmService(stack, "s", { model: "m", prefill });

// A collector that runs has to know where to send and as whom.
new Otel(stack, "otel", { enabled: false });
new Otel(stack, "otel", { endpoint: "https://otel.example", serviceName: "evals" });
declare const traced: boolean;
new Otel(stack, "otel", { enabled: traced, endpoint: "https://otel.example", serviceName: "evals" });
// @ts-expect-error it is on unless switched off
new Otel(stack, "otel", {});
// @ts-expect-error the service's name is missing
new Otel(stack, "otel", { enabled: true, endpoint: "https://otel.example" });
// @ts-expect-error it may be on, and then sends nowhere
new Otel(stack, "otel", { enabled: traced });

// A pool has one cluster: a reference is made by it, and the placement is a compute.
// @ts-expect-error a reference is no name and props
new VllmService(stack, "s", { model: "m", nodePool: { name: "gpu" } });
// @ts-expect-error a service is no compute
new VllmService(stack, "s", { model: "m", placement: policy });

declare const anything: unknown;
if (isKind(anything, "vllm", "benchmark")) expectTypeOf(anything).toEqualTypeOf<VllmService | Benchmark>();
