import { expect, test } from "vitest";
import {
	App,
	Benchmark,
	Driver,
	EvalStack,
	LocalCompute,
	Otel,
	RayCluster,
	SlurmCompute,
	type VllmEngineProps,
	VllmPdService,
	VllmService,
} from "../../../constructs/index.ts";
import { synth } from "../../../constructs/testing/index.ts";

const service = { container: "c:1", env: {}, mounts: [], preCommand: "" };

const engine = {
	...service,
	servedModelName: null,
	tensorParallelSize: 1,
	pipelineParallelSize: 1,
	numberOfInstances: 1,
	trustRemoteCode: false,
	useRayServe: false,
	extraArgs: "",
} satisfies VllmEngineProps;

const health = { path: "/health", timeoutSeconds: 60 };

/** One construct of every kind: with its defaults left out, or all of them written. */
function slurmStack(written: boolean): EvalStack {
	const or = <T extends object>(defaults: T) => (written ? defaults : {});
	const stack = new EvalStack(new App(), "t", { outputPath: "/lake/evals" });
	const pool = or({ nodes: 1, ntasksPerNode: 1, gpusPerNode: null, extraArgs: {} });
	const cluster = new SlurmCompute(stack, "north", {
		account: "lab",
		nodePools: { a: { partition: "q", ...pool }, b: { partition: "q", ...pool } },
		...or({ hostname: null, walltime: null, forwardEnv: [], extraArgs: {} }),
	});
	const placement = cluster;
	const policy = new VllmService(stack, "policy", {
		container: "c:1",
		model: "m",
		...or({
			...engine,
			placement,
			nodePool: null,
			port: 8000,
			healthCheck: { ...health, port: 8000 },
			dataParallelRpcPort: 13345,
		}),
		nodePool: cluster.pool("a"),
	});
	new VllmPdService(stack, "split", {
		container: "c:1",
		model: "m",
		port: 8100,
		prefill: {
			nodePool: cluster.pool("a"),
			...or({ ...engine, model: "m", placement: null, port: 8101, dataParallelRpcPort: 13345 }),
			...or({ healthCheck: { ...health, port: 8101 } }),
		},
		decode: {
			nodePool: cluster.pool("b"),
			...or({ ...engine, model: "m", placement: null, port: 8102, dataParallelRpcPort: 13346 }),
			...or({ healthCheck: { ...health, port: 8102 } }),
		},
		...or({
			...service,
			placement,
			nodePool: null,
			servedModelName: null,
			healthCheck: { ...health, port: 8100 },
			serverPerNode: false,
			nixlSideChannelPort: 5600,
			prefillPolicy: "cache_aware",
			decodePolicy: "cache_aware",
			intraNodeDataParallelSize: 1,
			requestTimeoutSecs: 86400,
			logLevel: "error",
			kvConnector: "NixlConnector",
			kvLoadFailurePolicy: "fail",
		}),
	});
	new RayCluster(stack, "ray", {
		container: "c:1",
		...or({
			...service,
			placement,
			healthCheck: null,
			nodePools: [],
			port: 6379,
			resources: [],
			numCpus: null,
			numGpus: null,
			extraArgs: "",
		}),
	});
	new Driver(stack, "driver", {
		policyModel: policy,
		gymInstall: { ref: "v1", ...or({ repo: "https://github.com/NVIDIA-NeMo/gym" }) },
		...or({
			container: "python:3.12",
			policyHost: "localhost",
			policyModelType: "openai_model",
			env: {},
			mounts: [],
		}),
	});
	new Otel(stack, "otel", {
		enabled: false,
		...or({
			endpoint: null,
			serviceName: null,
			tokenEnv: "OTEL_TOKEN",
			binary: "otelcol-contrib",
			container: null,
			component: "gym-vllm",
			gymTelemetry: true,
			gymSpanGroups: "default,verify",
			gymLogs: true,
			gpuMetricsPort: 9400,
			nodeMetricsPort: 9100,
			scrapeIntervalSeconds: 15,
			healthCheckTimeoutSeconds: 300,
		}),
	});
	new Benchmark(stack, "plain", or({ prepare: {}, run: {}, command: null, resumable: false }));
	new Benchmark(stack, "chain", { resumable: written ? { maxRetries: 3, maxWalltime: null } : {} });
	return stack;
}

test("defaults left out and defaults written out are the same stack", () => {
	expect(synth(slurmStack(true)).config).toEqual(synth(slurmStack(false)).config);
});

test("the same holds for LocalCompute and a driver that is not written", () => {
	const local = (written: boolean) => {
		const stack = new EvalStack(new App(), "t", { outputPath: "/tmp/evals" });
		new LocalCompute(stack, "here", written ? { walltime: null, env: {} } : {});
		if (written) new Driver(stack, "driver", { policyModel: null, gymInstall: null });
		new Otel(stack, "otel", { enabled: false });
		new Benchmark(stack, "b");
		return synth(stack).config;
	};
	expect(local(true)).toEqual(local(false));
});

test("what is not set is not in the document", () => {
	const { document } = synth(slurmStack(false));
	const driver = document.get("driver") as ReadonlyMap<string, unknown>;
	expect([...driver.keys()]).toEqual(["policy_model", "gym_install", "benchmarks"]);
});
