/**
 * A policy and a judge on a pool each, data prepared before the run, and a benchmark that is a script of your own.
 * Try it: `gym plan -offline -c size=8b`, in this folder.
 */
import {
	App,
	Benchmark,
	Driver,
	EvalStack,
	host,
	lit,
	Otel,
	runtime,
	SlurmCompute,
	VllmService,
} from "gymfile";

const app = new App();
const size: string = app.node.tryGetContext("size") ?? "32b";
const stack = new EvalStack(app, "judged", { outputPath: "/lustre/evals" });

// Pools own the allocation's nodes in this order: the first node is the policy's, the second the judge's.
const cluster = new SlurmCompute(stack, "lab", {
	account: "lab-07",
	hostname: "login.lab.example",
	walltime: "08:00:00",
	forwardEnv: ["SCORES_TOKEN"],
	nodePools: {
		policy: { partition: "batch", gpusPerNode: 8 },
		judge: { partition: "batch", gpusPerNode: 8 },
	},
});

const vllm = { container: "vllm/vllm-openai:v0.11.0", healthCheck: { timeoutSeconds: 1800 } };

const policy = new VllmService(stack, "policy", {
	...vllm,
	model: `acme/talker-${size}`,
	nodePool: cluster.pool("policy"),
	tensorParallelSize: 4,
	numberOfInstances: 2,
});

const judge = new VllmService(stack, "judge", {
	...vllm,
	model: "acme/critic-70b",
	nodePool: cluster.pool("judge"),
	port: 8001,
	tensorParallelSize: 8,
});

new Driver(stack, "driver", {
	gymInstall: { ref: "v0.7.0" },
	policyModel: policy,
	env: {
		// Written here, read from the submitting shell, and read in the job.
		HF_HUB_OFFLINE: lit("1"),
		HF_TOKEN: host("HF_TOKEN"),
		SCORES_TOKEN: runtime("SCORES_TOKEN"),
	},
});
new Otel(stack, "otel", { enabled: false });

const data = { config_paths: ["benchmarks/essays/config.yaml"], split: "benchmark" };

new Benchmark(stack, "essays", {
	prepare: data,
	run: {
		...data,
		judge_model: {
			responses_api_models: {
				openai_model: {
					// The first host of a pool is in a variable of the job; `${…}` is read by Gym, there.
					openai_base_url: "http://${oc.env:GYM_POOL_JUDGE_NODES}:8001/v1",
					openai_api_key: "unused",
					openai_model: judge.props.model,
				},
			},
		},
	},
});

// The script gets the policy's address and a folder of its own in its environment.
new Benchmark(stack, "latency", {
	command: `set -e
python -m pip install --quiet guidellm
guidellm benchmark --target "$NEMO_GYM_POLICY_BASE_URL" --model "$NEMO_GYM_POLICY_MODEL_NAME" \\
  --output-path "$NEMO_GYM_BENCH_DIR/artifacts/latency.json"
`,
});

export default app;
