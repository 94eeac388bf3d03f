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
	RayCluster,
	SlurmCompute,
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

declare const anything: unknown;
if (isKind(anything, "vllm", "benchmark")) expectTypeOf(anything).toEqualTypeOf<VllmService | Benchmark>();
