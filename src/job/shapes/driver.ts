/** The driver: install, prepare, and the run or the benchmark's own command. */
import type { Problem } from "../../errors.ts";
import type { BenchmarkConfig, SubmitConfig } from "../../submit/config.ts";
import { driverNode } from "../../submit/nodes.ts";
import { POLICY_KEYS, policyWiring } from "../../submit/wiring.ts";
import { envEntries } from "../env.ts";
import { hydraProblems, hydraTokens } from "../hydra.ts";
import type { DriverStep, PolicyAccess, Program, TextPiece } from "../model.ts";
import { defaultArgument, runDefaults } from "../run-defaults.ts";
import { telemetryEnv } from "./collector.ts";

/** `${oc.env:NAME}` in the policy's URL is for the driver: Gym resolves it in overrides, the shell in a command. */
function textPieces(text: string): readonly TextPiece[] {
	return text
		.split(/(\$\{oc\.env:[A-Za-z_][A-Za-z0-9_]*\})/)
		.filter((part) => part !== "")
		.map((part) => {
			const variable = /^\$\{oc\.env:(.*)\}$/.exec(part)?.[1];
			return variable === undefined ? part : { variable };
		});
}

function policyAccess(config: SubmitConfig): PolicyAccess | null {
	const wiring = policyWiring(config);
	if (wiring === null) return null;
	const [baseUrl, modelName, apiKey] = POLICY_KEYS.map((key) => String(wiring.get(key)));
	return { baseUrl: textPieces(baseUrl!), modelName: modelName!, apiKey: apiKey! };
}

function program(config: SubmitConfig, benchmark: BenchmarkConfig, resumed: boolean): Program {
	const policy = policyAccess(config);
	if (benchmark.command !== null) return { kind: "command", text: benchmark.command, policy };
	const type = config.driver.policy_model_type;
	const defaults = runDefaults(benchmark.run, { fromCache: resumed || benchmark.resumable !== false });
	return {
		kind: "gym",
		args: [
			...(policy !== null && type !== "" ? ["--model-type", type] : []),
			...defaults.map(defaultArgument),
			...hydraTokens(benchmark.run, { prefix: "+" }),
		],
	};
}

/** The driver's step for one benchmark; it shares its node with the policy. */
export function driverStep(config: SubmitConfig, benchmark: BenchmarkConfig, resumed: boolean): DriverStep {
	const { driver } = config;
	return {
		id: "driver",
		word: "driver",
		at: "driver",
		hosts: { first: driverNode(config), count: 1 },
		container: driver.container,
		mounts: driver.mounts,
		env: [...telemetryEnv(config).filter(({ name }) => !driver.env.has(name)), ...envEntries(driver.env)],
		usesGpus: true,
		install: driver.gym_install && {
			...driver.gym_install,
			telemetry: config.otel.enabled && config.otel.gym_telemetry,
		},
		prepare: benchmark.prepare.size > 0 ? hydraTokens(benchmark.prepare, { prefix: "+" }) : null,
		program: program(config, benchmark, resumed),
	};
}

/** What cannot be passed on to Gym. */
export function driverProblems(
	config: SubmitConfig,
	name: string,
	benchmark: BenchmarkConfig,
): readonly Problem[] {
	const at = `driver.benchmarks.${name}`;
	const install = config.driver.gym_install;
	const options = Object.entries(install ?? {}).filter(([, value]) => value.startsWith("-"));
	return [
		...hydraProblems(benchmark.prepare, `${at}.prepare`),
		...hydraProblems(benchmark.run, `${at}.run`),
		...options.map(
			([key, value]): Problem => ({
				code: "gym-install-option",
				severity: "error",
				at: `driver.gym_install.${key}`,
				message: `${JSON.stringify(value)} would be read as an option of git`,
			}),
		),
	];
}
