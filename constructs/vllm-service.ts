import type { Construct } from "constructs";
import { Element } from "./element.ts";
import { KIND } from "./kind.ts";
import { nested, type Section, section } from "./section.ts";
import type { PinnableProps } from "./service-props.ts";

/** How one vLLM server is set up: {@link VllmService} without its model, and each tier of a VllmPdService. */
export interface VllmEngineProps extends PinnableProps {
	/**
	 * Port that the server listens on.
	 * @default 8000
	 */
	readonly port?: number;
	/**
	 * Name that the model is served under.
	 * @default null, that is `model`
	 */
	readonly servedModelName?: string | null;
	/**
	 * GPUs that one copy of the model is spread over (tensor parallelism).
	 * @default 1
	 */
	readonly tensorParallelSize?: number;
	/**
	 * Stages that one copy of the model is cut into (pipeline parallelism).
	 * @default 1
	 */
	readonly pipelineParallelSize?: number;
	/**
	 * Copies of the model (data parallelism).
	 * @default 1
	 */
	readonly numberOfInstances?: number;
	/**
	 * Adds `--trust-remote-code`.
	 * @default false
	 */
	readonly trustRemoteCode?: boolean;
	/**
	 * Has the Ray Serve gateway manage the copies and route requests, also where it is not needed.
	 * @default false
	 */
	readonly useRayServe?: boolean;
	/**
	 * Flags appended verbatim to `vllm serve`, as shell words: `--max-model-len 8192`.
	 * @default ""
	 */
	readonly extraArgs?: string;
	/**
	 * Port on which the data-parallel ranks of a service over several nodes coordinate.
	 * @default 13345
	 */
	readonly dataParallelRpcPort?: number;
}

/** Props of {@link VllmService}. Document: `services.<id>` with `type: vllm`. */
export interface VllmServiceProps extends VllmEngineProps {
	/** Name or path of the model for `vllm serve`. */
	readonly model: string;
}

/** A vLLM server, started with `vllm serve`. Its default health check is `/health` on its port. */
export class VllmService extends Element {
	readonly [KIND] = "vllm" as const;
	readonly props: VllmServiceProps;

	/** @param id name of the service, part of log names and of shell variables */
	constructor(scope: Construct, id: string, props: VllmServiceProps) {
		super(scope, id);
		this.props = props;
	}

	/** The `services` entry. */
	toDocument(): Section {
		return vllmSection(this.props);
	}
}

/** A vLLM server as the document has it, a service or a tier. */
export function vllmSection(props: VllmEngineProps): Section {
	const { healthCheck, ...rest } = props;
	return new Map<string, unknown>([
		["type", "vllm"],
		...section({ ...rest, healthCheck: nested(healthCheck) }),
	]);
}
