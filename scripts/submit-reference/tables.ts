/** The tables of docs/submit-reference.md: which part of the document, and the construct that writes it. */

/** One table. */
export interface Table {
	readonly id: string;
	readonly title: string;
	/** Path of the object in the document; `*` is a name of the user's. */
	readonly path: string;
	/** Further places of the same object, as text after the path. */
	readonly also?: string;
	/** `type` of the entry that is meant. */
	readonly kind?: string;
	/** What stands before a prop's name. */
	readonly construct: string;
	/** Type of the props; none where constructs are written instead. */
	readonly props?: string;
	/** What sets a field that is no prop. */
	readonly otherwise?: Readonly<Record<string, string>>;
}

/** In the order of the page. */
export const TABLES: readonly Table[] = [
	{
		id: "document",
		title: "Top level",
		path: "",
		construct: "EvalStack",
		otherwise: {
			services: "VllmService, VllmPdService, RayCluster",
			compute: "SlurmCompute, LocalCompute",
			driver: "Driver",
			job: "EvalStack",
			otel: "Otel",
		},
	},
	{
		id: "vllm",
		title: "A vLLM server",
		path: "services.*",
		kind: "vllm",
		construct: "VllmService",
		props: "VllmServiceProps",
	},
	{
		id: "vllm_pd",
		title: "Prefill and decode apart",
		path: "services.*",
		kind: "vllm_pd",
		construct: "VllmPdService",
		props: "VllmPdServiceProps",
	},
	{
		id: "tier",
		title: "A tier",
		path: "services.*.prefill",
		also: " and `services.*.decode`",
		kind: "vllm_pd",
		construct: "VllmTierProps",
		props: "VllmTierProps",
	},
	{
		id: "ray",
		title: "A Ray cluster",
		path: "services.*",
		kind: "ray",
		construct: "RayCluster",
		props: "RayClusterProps",
		otherwise: { node_pool: "RayCluster.nodePools" },
	},
	{
		id: "health_check",
		title: "A health check",
		path: "services.*.health_check",
		also: ", also of tiers",
		kind: "vllm",
		construct: "HealthCheckProps",
		props: "HealthCheckProps",
	},
	{
		id: "slurm",
		title: "A Slurm cluster",
		path: "compute.*",
		kind: "slurm",
		construct: "SlurmCompute",
		props: "SlurmComputeProps",
	},
	{
		id: "pool",
		title: "A node pool",
		path: "compute.*.node_pools.*",
		kind: "slurm",
		construct: "NodePoolProps",
		props: "NodePoolProps",
	},
	{
		id: "local",
		title: "This machine",
		path: "compute.*",
		kind: "local",
		construct: "LocalCompute",
		props: "LocalComputeProps",
	},
	{
		id: "driver",
		title: "The driver",
		path: "driver",
		construct: "Driver",
		props: "DriverProps",
		otherwise: { benchmarks: "Benchmark" },
	},
	{
		id: "gym_install",
		title: "An installed Gym",
		path: "driver.gym_install",
		construct: "GymInstallProps",
		props: "GymInstallProps",
	},
	{
		id: "benchmark",
		title: "A benchmark",
		path: "driver.benchmarks.*",
		construct: "Benchmark",
		props: "BenchmarkProps",
	},
	{
		id: "resumable",
		title: "How far a benchmark goes on",
		path: "driver.benchmarks.*.resumable",
		construct: "ResumableProps",
		props: "ResumableProps",
	},
	{ id: "job", title: "The job", path: "job", construct: "EvalStack", props: "EvalStackProps" },
	{ id: "otel", title: "The collector", path: "otel", construct: "Otel", props: "OtelProps" },
];
