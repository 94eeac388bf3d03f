/** A stack that sets every prop there is, to something else than its default. */
import {
	App,
	Benchmark,
	Driver,
	EvalStack,
	host,
	LocalCompute,
	lit,
	Otel,
	RayCluster,
	runtime,
	SlurmCompute,
	type VllmEngineProps,
	VllmPdService,
	VllmService,
} from "../../../constructs/index.ts";

/** On Slurm, with a service of every kind. */
export function fullSlurmStack(): EvalStack {
	const stack = new EvalStack(new App(), "full", { outputPath: "/lake/evals" });
	const cluster = new SlurmCompute(stack, "north", {
		account: "lab-07",
		hostname: "login.lab.example",
		walltime: "04:00:00",
		forwardEnv: ["HF_TOKEN"],
		nodePools: {
			front: { partition: "batch", nodes: 2, ntasksPerNode: 2, gpusPerNode: 8, extraArgs: { qos: "low" } },
			back: { partition: "batch", nodes: 2, ntasksPerNode: 2, gpusPerNode: 8 },
		},
		extraArgs: { comment: "run #3", exclusive: true },
	});
	const engine = {
		container: "vllm:1",
		placement: cluster,
		port: 8100,
		servedModelName: "talker",
		tensorParallelSize: 4,
		pipelineParallelSize: 2,
		numberOfInstances: 2,
		trustRemoteCode: true,
		useRayServe: true,
		extraArgs: "--max-model-len 8192",
		dataParallelRpcPort: 13400,
		healthCheck: { path: "/ready", port: 8101, timeoutSeconds: 900 },
		env: { A: lit("1"), B: host("SECRET"), C: runtime("HF_TOKEN") },
		mounts: ["/data:/data:ro"],
		preCommand: "ulimit -n 65536",
	} satisfies VllmEngineProps;
	const policy = new VllmService(stack, "policy", {
		...engine,
		model: "acme/talker",
		nodePool: cluster.pool("front"),
	});
	new VllmPdService(stack, "split", {
		container: "router:1",
		placement: cluster,
		nodePool: cluster.pool("front"),
		healthCheck: { path: "/up", port: 8200, timeoutSeconds: 800 },
		env: { R: lit("x") },
		mounts: ["/models"],
		preCommand: "true",
		model: "acme/talker",
		servedModelName: "talker",
		port: 8200,
		prefill: { ...engine, model: "acme/talker-p", nodePool: cluster.pool("front"), port: 8301 },
		decode: { ...engine, model: "acme/talker-d", nodePool: cluster.pool("back"), port: 8302 },
		serverPerNode: true,
		nixlSideChannelPort: 5700,
		prefillPolicy: "round_robin",
		decodePolicy: "random",
		intraNodeDataParallelSize: 2,
		requestTimeoutSecs: 7200,
		logLevel: "info",
		kvConnector: "OtherConnector",
		kvLoadFailurePolicy: "recompute",
	});
	new RayCluster(stack, "ray", {
		container: "ray:1",
		placement: cluster,
		healthCheck: { path: "/", port: 8265, timeoutSeconds: 120 },
		env: { RAY_A: lit("1") },
		mounts: ["/data"],
		preCommand: "true",
		nodePools: [cluster.pool("front"), cluster.pool("back")],
		port: 6400,
		resources: [[cluster.pool("back"), { extra_gpu: 4 }]],
		numCpus: 16,
		numGpus: 8,
		extraArgs: "--disable-usage-stats",
	});
	new Driver(stack, "driver", {
		container: "gym:1",
		gymInstall: { repo: "https://git.example/gym", ref: "v0.7.0" },
		policyModel: policy,
		policyHost: "${oc.env:HEAD_NODE_IP}",
		policyModelType: "vllm_model",
		env: { D: host("SECRET") },
		mounts: ["/scratch:/scratch"],
	});
	new Otel(stack, "otel", {
		enabled: true,
		endpoint: "https://otel.example",
		serviceName: "evals",
		tokenEnv: "MY_TOKEN",
		binary: "otelcol",
		container: "otel:1",
		component: "mine",
		gymTelemetry: false,
		gymSpanGroups: "default",
		gymLogs: false,
		gpuMetricsPort: 9500,
		nodeMetricsPort: 9200,
		scrapeIntervalSeconds: 30,
		healthCheckTimeoutSeconds: 60,
	});
	new Benchmark(stack, "sums", {
		prepare: { split: "dev" },
		run: { split: "dev", seed: null, nested: { list: [1, "two", { three: 3 }] } },
		resumable: { maxRetries: 5, maxWalltime: "1-00:00:00" },
		lifecycle: { onChange: "replace" },
	});
	new Benchmark(stack, "own", { command: "echo hi", resumable: false });
	return stack;
}

/** On this machine. */
export function fullLocalStack(): EvalStack {
	const stack = new EvalStack(new App(), "local", { outputPath: "/tmp/evals" });
	new LocalCompute(stack, "here", { walltime: "00:10:00", env: { A: lit("1") } });
	new Otel(stack, "otel", { enabled: false });
	new Benchmark(stack, "sums", { command: "true" });
	return stack;
}
