/** What a gymfile imports. */
export { type Float, float } from "../src/submit/float.ts";
export { App, type AppProps } from "./app.ts";
export { type Aspect, addAspect } from "./aspect.ts";
export {
	Benchmark,
	type BenchmarkCommonProps,
	type BenchmarkProps,
	type CommandBenchmarkProps,
	type GymBenchmarkProps,
	type LifecycleProps,
	type ResumableProps,
} from "./benchmark.ts";
export type { Context } from "./context.ts";
export { Driver, type DriverProps, type GymInstallProps } from "./driver.ts";
export { Element } from "./element.ts";
export { isKind, type OfKind } from "./elements.ts";
export { type EnvValue, host, lit, runtime } from "./env.ts";
export { EvalStack, type EvalStackProps } from "./eval-stack.ts";
export type { Kind } from "./kind.ts";
export { LocalCompute, type LocalComputeProps } from "./local-compute.ts";
export { NodePool, type NodePoolProps } from "./node-pool.ts";
export { Otel, type OtelCommonProps, type OtelOffProps, type OtelOnProps, type OtelProps } from "./otel.ts";
export { RayCluster, type RayClusterProps } from "./ray-cluster.ts";
export type { HealthCheckProps, PinnableProps, ServiceProps } from "./service-props.ts";
export { type NodePools, SlurmCompute, type SlurmComputeProps } from "./slurm-compute.ts";
export type { BenchmarkSettings, StackSettings, SynthesizedStack } from "./stack-document.ts";
export { synthApp } from "./synth.ts";
export type { Directives, FreeValue, Mapping } from "./values.ts";
export { VllmPdService, type VllmPdServiceProps, type VllmTierProps } from "./vllm-pd-service.ts";
export { type VllmEngineProps, VllmService, type VllmServiceProps } from "./vllm-service.ts";
