/**
 * The demo. As it stands it runs on this machine, with a model server and a benchmark that Node plays:
 * `gym plan`, `gym apply`. The same stack on Slurm: `gym plan -offline -c cluster=slurm`.
 */
import { fileURLToPath } from "node:url";
import { App, Benchmark, Driver, EvalStack, LocalCompute, Otel, SlurmCompute, VllmService } from "gymfile";

const app = new App();
const slurm = app.node.tryGetContext("cluster") === "slurm";
const demo = fileURLToPath(new URL("examples/demo", import.meta.url));

const stack = new EvalStack(app, "demo", { outputPath: slurm ? "/lustre/evals" : "runs" });

if (slurm) {
	new SlurmCompute(stack, "lab", {
		account: "lab-07",
		hostname: "login.lab.example",
		walltime: "00:30:00",
		nodePools: { gpu: { partition: "batch", gpusPerNode: 1 } },
	});
} else {
	new LocalCompute(stack, "here", { walltime: "00:10:00" });
}

const policy = new VllmService(stack, "policy", {
	...(slurm && { container: "vllm/vllm-openai:v0.11.0" }),
	model: "acme/adder-1b",
	port: 8765,
	// The demo's own `vllm` comes first on PATH.
	...(!slurm && { preCommand: `export PATH=${demo}/bin:$PATH` }),
});
new Driver(stack, "driver", { policyModel: policy });
new Otel(stack, "otel", { enabled: false });

new Benchmark(stack, "sums", { command: `exec node ${demo}/sums.js` });

export default app;
