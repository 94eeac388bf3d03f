/**
 * One model, three benchmarks, one pool: each benchmark is a Slurm job of its own with its own copy of the model.
 * Try it: `gym plan -offline`, in this folder.
 */
import { App, Benchmark, Driver, EvalStack, host, Otel, SlurmCompute, VllmService } from "gymfile";

const app = new App();
const stack = new EvalStack(app, "math", { outputPath: "/lustre/evals" });

const cluster = new SlurmCompute(stack, "lab", {
	account: "lab-07",
	hostname: "login.lab.example",
	walltime: "04:00:00",
	nodePools: { gpu: { partition: "batch", nodes: 1, gpusPerNode: 8 } },
});

const policy = new VllmService(stack, "policy", {
	container: "vllm/vllm-openai:v0.11.0",
	model: "acme/talker-32b",
	nodePool: cluster.pool("gpu"),
	tensorParallelSize: 8,
	extraArgs: "--max-model-len 32768",
	// A model of this size needs more than the default minute to load.
	healthCheck: { timeoutSeconds: 1800 },
	env: { HF_TOKEN: host("HF_TOKEN") },
});

new Driver(stack, "driver", { gymInstall: { ref: "v0.7.0" }, policyModel: policy });
new Otel(stack, "otel", { enabled: false });

// What all three have in common.
for (const name of ["aime", "gsm8k", "gpqa"]) {
	new Benchmark(stack, name, {
		run: {
			config_paths: [`benchmarks/${name}/config.yaml`],
			split: "benchmark",
			num_repeats: 4,
			responses_create_params: { temperature: 0.6, top_p: 0.95 },
		},
	});
}

export default app;
