/**
 * The validated submit document, every default filled in. Keys are the document's own
 * (Configuration Reference); mappings that users name are `Map`s, so that order is kept even for
 * `"10"` before `"9"` and a name such as `__proto__` is only a name.
 */
import type { Float } from "./float.ts";

/**
 * A plain value as it stands in `run` and `prepare`: what YAML can say, with `Map`s for mappings. A whole
 * number is an integer, `1.0` is a `Float`.
 */
export type Value = null | boolean | number | string | Float | readonly Value[] | ReadonlyMap<string, Value>;

/** Mapping from variable name to `lit:VALUE`, `host:VAR` or `runtime:VAR`. */
export type Env = ReadonlyMap<string, string>;

/** Extra `#SBATCH` directives without dashes: text, or `true` for the flag alone, `false`/null to omit it. */
export type ExtraDirectives = ReadonlyMap<string, string | number | boolean | null>;

export interface HealthCheck {
	readonly path: string;
	/** TCP port; in a resolved document always a number for services that are probed. */
	readonly port: number | null;
	readonly timeout_seconds: number;
}

interface ServiceCommon {
	readonly container: string;
	readonly placement: string | null;
	readonly node_pool: string | null;
	readonly health_check: HealthCheck | null;
	readonly env: Env;
	readonly mounts: readonly string[];
	readonly pre_command: string;
}

export interface VllmConfig extends ServiceCommon {
	readonly type: "vllm";
	readonly model: string;
	readonly port: number;
	readonly served_model_name: string | null;
	readonly tensor_parallel_size: number;
	readonly pipeline_parallel_size: number;
	readonly number_of_instances: number;
	readonly trust_remote_code: boolean;
	readonly use_ray_serve: boolean;
	readonly extra_args: string;
	readonly data_parallel_rpc_port: number;
}

export interface VllmPdConfig extends ServiceCommon {
	readonly type: "vllm_pd";
	readonly model: string;
	readonly served_model_name: string | null;
	readonly port: number;
	readonly prefill: VllmConfig;
	readonly decode: VllmConfig;
	readonly server_per_node: boolean;
	readonly nixl_side_channel_port: number;
	readonly prefill_policy: string;
	readonly decode_policy: string;
	readonly intra_node_data_parallel_size: number;
	readonly request_timeout_secs: number;
	readonly log_level: string;
	readonly kv_connector: string;
	readonly kv_load_failure_policy: string;
}

export interface RayConfig extends ServiceCommon {
	readonly type: "ray";
	/** Always null: a ray service lists its pools in `node_pools`. */
	readonly node_pool: null;
	readonly node_pools: readonly string[];
	readonly port: number;
	/** Custom Ray resources: pool → resource → amount. */
	readonly resources: ReadonlyMap<string, ReadonlyMap<string, number>>;
	readonly num_cpus: number | null;
	readonly num_gpus: number | null;
	readonly extra_args: string;
}

export type ServiceConfig = VllmConfig | VllmPdConfig | RayConfig;

export interface NodePoolConfig {
	readonly partition: string;
	readonly nodes: number;
	readonly ntasks_per_node: number;
	readonly gpus_per_node: number | null;
	readonly extra_args: ExtraDirectives;
}

export interface SlurmConfig {
	readonly type: "slurm";
	readonly account: string;
	readonly hostname: string | null;
	/** Slurm's own grammar, e.g. `04:00:00`; null means no `--time`. */
	readonly walltime: string | null;
	readonly forward_env: readonly string[];
	readonly node_pools: ReadonlyMap<string, NodePoolConfig>;
	readonly extra_args: ExtraDirectives;
}

/** Our extension (`type: local`): the same job as processes on this machine. */
export interface LocalConfig {
	readonly type: "local";
	readonly walltime: string | null;
	readonly env: Env;
}

export type ComputeConfig = SlurmConfig | LocalConfig;

export interface ResumableConfig {
	readonly max_retries: number;
	readonly max_walltime: string | null;
}

export interface BenchmarkConfig {
	readonly prepare: ReadonlyMap<string, Value>;
	readonly run: ReadonlyMap<string, Value>;
	readonly command: string | null;
	readonly resumable: boolean | ResumableConfig;
}

export interface DriverConfig {
	readonly container: string;
	readonly gym_install: { readonly repo: string; readonly ref: string } | null;
	readonly policy_model: string | null;
	readonly policy_host: string;
	readonly policy_model_type: string;
	readonly benchmarks: ReadonlyMap<string, BenchmarkConfig>;
	readonly env: Env;
	readonly mounts: readonly string[];
}

export interface OtelConfig {
	readonly enabled: boolean;
	readonly endpoint: string | null;
	readonly service_name: string | null;
	readonly token_env: string;
	readonly binary: string;
	readonly container: string | null;
	readonly component: string;
	readonly gym_telemetry: boolean;
	readonly gym_span_groups: string;
	readonly gym_logs: boolean;
	readonly gpu_metrics_port: number | null;
	readonly node_metrics_port: number | null;
	readonly scrape_interval_seconds: number;
	readonly health_check_timeout_seconds: number;
}

export interface SubmitConfig {
	readonly services: ReadonlyMap<string, ServiceConfig>;
	/** Exactly one entry. */
	readonly compute: ReadonlyMap<string, ComputeConfig>;
	readonly driver: DriverConfig;
	readonly job: { readonly output_path: string };
	readonly otel: OtelConfig;
}

/**
 * Where a document path (`services.policy.port`; keys joined by dots, list items as `[0]`) was written.
 * The longest known prefix answers for paths below it.
 */
export interface SourceMap {
	locate(path: readonly (string | number)[]): {
		readonly source?: import("../errors.ts").SourceLocation;
		readonly construct?: string;
	};
}
