/**
 * The script inside the driver's step. It installs and prepares while the models load, waits for the batch
 * script's order to run, and passes an order to stop on to the program.
 */
import type { Argument, DriverStep, Install, Job, PolicyAccess, Program, TextPiece } from "../model.ts";
import { receiveLines } from "./env.ts";
import type { Platform } from "./platform.ts";
import { quote, quoteAll } from "./quote.ts";
import { hasGpus, stepFunctions } from "./steps.ts";

/** File of the benchmark's directory with its own command, which may be longer than an argument can. */
export const COMMAND_FILE = "command.sh";

const HEAD = `set -o pipefail
gym_bench=$1 gym_orders=$2

# Has the batch script given this order? The file is opened anew at each look, as NFS wants it.
ordered() { [[ $(<"$gym_orders") == *"$1"* ]]; }`;

const RUN = `until ordered run; do
	if ordered stop; then exit 85; fi
	sleep 1
done
start_program
gym_program=$! gym_told=""
trap stop_program TERM
while kill -0 "$gym_program" 2>/dev/null; do
	if [[ ! $gym_told ]] && ordered stop; then
		gym_told=1
		stop_program
	fi
	sleep 1
done
wait "$gym_program"`;

function installLines({ repo, ref, telemetry }: Install): string {
	return `# Gym from its repository, in a fresh environment outside of the benchmark's directory; later commands run there.
install_gym() {
	command -v git >/dev/null || { apt-get update && apt-get install -y git; } || return
	if ! command -v uv >/dev/null; then
		if command -v curl >/dev/null; then
			curl -LsSf https://astral.sh/uv/install.sh | sh || return
			export PATH="$HOME/.local/bin:$PATH"
		else
			python3 -m pip install uv || return
		fi
	fi
	local checkout
	checkout=$(mktemp -d) &&
		git clone -- ${quote(repo)} "$checkout/gym" &&
		cd "$checkout/gym" &&
		git checkout ${quote(ref)} &&
		uv venv --seed &&
		. .venv/bin/activate &&
		uv pip install -e ${telemetry ? "'.[telemetry]'" : "."}
}
install_gym || exit`;
}

function argument(arg: Argument): string {
	if (typeof arg === "string") return quote(arg);
	return `${quote(arg.before)}"$gym_bench"${quote(`/${arg.below}${arg.after}`)}`;
}

function pieces(text: readonly TextPiece[]): string {
	return text
		.map((piece) => (typeof piece === "string" ? quote(piece) : `"\${${piece.variable}-}"`))
		.join("");
}

/** What a benchmark's own command is told; its `env` may say otherwise. */
function commandLines(policy: PolicyAccess | null): readonly string[] {
	return [
		'export NEMO_GYM_BENCH_DIR="$1"',
		...(policy === null
			? []
			: [
					`export NEMO_GYM_POLICY_BASE_URL=${pieces(policy.baseUrl)}`,
					`export NEMO_GYM_POLICY_MODEL_NAME=${quote(policy.modelName)}`,
					`export NEMO_GYM_POLICY_API_KEY=${quote(policy.apiKey)}`,
				]),
	];
}

function programLines(program: Program): string {
	if (program.kind === "gym") {
		const words = program.args.map(argument).join(" \\\n\t\t");
		return `program() {
	exec gym eval run \\
		${words}
}
start_program() { program & }
stop_program() { kill -TERM "$gym_program"; }`;
	}
	return `program() { exec bash "$gym_bench/${COMMAND_FILE}"; }
# A process group of its own, so that all of the command's programs hear of the end.
start_program() {
	set -m
	program &
	set +m
}
stop_program() { kill -TERM -- "-$gym_program"; }`;
}

/** The whole script of the driver's step; `$1` is the benchmark's directory, `$2` the file of orders. */
export function driverText(step: DriverStep): string {
	return [
		...(step.program.kind === "command" ? commandLines(step.program.policy) : []),
		...receiveLines(step),
		HEAD,
		...(step.install === null ? [] : [installLines(step.install)]),
		...(step.prepare === null ? [] : [`gym eval prepare ${quoteAll(step.prepare)} || exit`]),
		programLines(step.program),
		RUN,
	].join("\n");
}

/** The driver's functions. */
export function driverFunctions(job: Job, platform: Platform): string {
	return stepFunctions(job.driver, driverText(job.driver), platform, {
		benchDir: "mounted",
		gpus: hasGpus(job),
		args: ' driver "$gym_bench" "$gym_bench/$gym_orders"',
	});
}
