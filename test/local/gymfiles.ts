/** Texts of gymfiles with local stacks. */
import { DEMO } from "./user.ts";

/** One stack. */
export interface StackText {
	/** Default `lab`. */
	readonly name?: string;
	/** Default `runs`, beside the gymfile. */
	readonly outputPath?: string;
	/** Slurm's grammar; default none. */
	readonly walltime?: string;
	/** Props of the policy service, as TypeScript; default no service. */
	readonly policy?: string;
	/** Props of the driver beside the policy, as TypeScript. */
	readonly driver?: string;
	/** Commands of the benchmarks, by name. */
	readonly benchmarks: Readonly<Record<string, string>>;
	/** Resumable benchmarks by name: what `resumable` is, as TypeScript. */
	readonly resumable?: Readonly<Record<string, string>>;
}

/** A command that goes on until somebody ends it. */
export const ENDLESS = "echo begun >begun\nexec sleep 600\n";

/** Props of the demo's stand-in for vLLM, as TypeScript. */
export function standIn(port: number, more = ""): string {
	return `{ model: "acme/adder-1b", port: ${port}, preCommand: ${JSON.stringify(`export PATH=${DEMO}/bin:$PATH`)}, ${more} }`;
}

function stackText({
	name = "lab",
	outputPath = "runs",
	walltime,
	policy,
	driver = "",
	benchmarks,
	resumable = {},
}: StackText) {
	return `{
	const stack = new EvalStack(app, ${JSON.stringify(name)}, { outputPath: ${JSON.stringify(outputPath)} });
	new LocalCompute(stack, "here", { walltime: ${JSON.stringify(walltime ?? null)} });
	${policy ? `const policyModel = new VllmService(stack, "policy", ${policy});` : ""}
	new Driver(stack, "driver", { ${policy ? "policyModel," : ""} ${driver} });
	new Otel(stack, "otel", { enabled: false });
	${Object.entries(benchmarks)
		.map(
			([id, command]) =>
				`new Benchmark(stack, ${JSON.stringify(id)}, { command: ${JSON.stringify(command)} });`,
		)
		.join("\n\t")}
	${Object.entries(resumable)
		.map(([id, props]) => `new Benchmark(stack, ${JSON.stringify(id)}, { resumable: ${props} });`)
		.join("\n\t")}
}`;
}

/** A gymfile with these stacks. */
export function gymfile(...stacks: readonly StackText[]): string {
	return `import { App, Benchmark, Driver, EvalStack, host, LocalCompute, lit, Otel, runtime, VllmService } from "gymfile";
const app = new App();
${stacks.map(stackText).join("\n")}
export default app;
`;
}
