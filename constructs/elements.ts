/** Our constructs by their kind. */
import type { App } from "./app.ts";
import type { Benchmark } from "./benchmark.ts";
import type { Driver } from "./driver.ts";
import type { EvalStack } from "./eval-stack.ts";
import { KIND, type Kind, kindOf } from "./kind.ts";
import type { LocalCompute } from "./local-compute.ts";
import type { NodePool } from "./node-pool.ts";
import type { Otel } from "./otel.ts";
import type { RayCluster } from "./ray-cluster.ts";
import type { SlurmCompute } from "./slurm-compute.ts";
import type { VllmPdService } from "./vllm-pd-service.ts";
import type { VllmService } from "./vllm-service.ts";

type Known =
	| App
	| EvalStack
	| SlurmCompute<string>
	| LocalCompute
	| NodePool
	| VllmService
	| VllmPdService
	| RayCluster
	| Driver
	| Otel
	| Benchmark;

/** The class of a kind. */
export type OfKind<K extends Kind> = Extract<Known, { readonly [KIND]: K }>;

/**
 * Recognises an object of ours: `isKind(construct, "vllm", "vllm_pd")`. Use it instead of `instanceof`, which
 * is wrong for objects from a second copy of this package.
 */
export function isKind<K extends Kind>(value: unknown, ...kinds: readonly K[]): value is OfKind<K> {
	const kind = kindOf(value);
	return kind !== undefined && (kinds as readonly Kind[]).includes(kind);
}
