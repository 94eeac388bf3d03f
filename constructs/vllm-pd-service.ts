import type { Construct } from "constructs";
import { Element } from "./element.ts";
import { KIND } from "./kind.ts";
import type { NodePool } from "./node-pool.ts";
import { nested, type Section, section } from "./section.ts";
import type { PinnableProps } from "./service-props.ts";
import { type VllmEngineProps, vllmSection } from "./vllm-service.ts";

/** One tier of a {@link VllmPdService}: a vLLM server on a pool of its own. */
export interface VllmTierProps extends VllmEngineProps {
	/** Pool of the tier; the two tiers need one each. */
	readonly nodePool: NodePool;
	/**
	 * Model of the tier.
	 * @default the service's model
	 */
	readonly model?: string;
	/**
	 * Port of the tier.
	 * @default the router's port + 1 (prefill) or + 2 (decode)
	 */
	readonly port?: number;
	/**
	 * Port on which the tier's data-parallel ranks coordinate; the tiers must differ.
	 * @default 13345 (prefill), prefill's + 1 (decode)
	 */
	readonly dataParallelRpcPort?: number;
}

/** Props of {@link VllmPdService}. Document: `services.<id>` with `type: vllm_pd`. */
export interface VllmPdServiceProps extends PinnableProps {
	/** Name or path of the model, for both tiers. */
	readonly model: string;
	/**
	 * Name that the model is served under, for both tiers.
	 * @default null, that is `model`
	 */
	readonly servedModelName?: string | null;
	/**
	 * Port of the router.
	 * @default 8000
	 */
	readonly port?: number;
	/** The tier that reads prompts. */
	readonly prefill: VllmTierProps;
	/** The tier that writes answers. */
	readonly decode: VllmTierProps;
	/**
	 * One independent server on every node of each tier, instead of one engine across them.
	 * @default false
	 */
	readonly serverPerNode?: boolean;
	/**
	 * Prefill's NIXL side-channel port; decode uses this + 1.
	 * @default 5600
	 */
	readonly nixlSideChannelPort?: number;
	/**
	 * How the router picks a prefill server.
	 * @default "cache_aware"
	 */
	readonly prefillPolicy?: string;
	/**
	 * How the router picks a decode server.
	 * @default "cache_aware"
	 */
	readonly decodePolicy?: string;
	/**
	 * Passed to the router.
	 * @default 1
	 */
	readonly intraNodeDataParallelSize?: number;
	/**
	 * Seconds that the router lets a request take; agentic benchmarks hold them open for long.
	 * @default 86400
	 */
	readonly requestTimeoutSecs?: number;
	/**
	 * Log level of the router.
	 * @default "error"
	 */
	readonly logLevel?: string;
	/**
	 * Connector that moves the key-value cache between the tiers.
	 * @default "NixlConnector"
	 */
	readonly kvConnector?: string;
	/**
	 * `fail` shows a broken transfer instead of quietly computing the prefill again.
	 * @default "fail"
	 */
	readonly kvLoadFailurePolicy?: string;
}

/**
 * One model with prefill and decode on separate vLLM servers behind a router. The id `X` stands for three
 * services: `X-prefill`, `X-decode` and the router `X`. The router's container must have `vllm-router`.
 */
export class VllmPdService extends Element {
	readonly [KIND] = "vllm_pd" as const;
	readonly props: VllmPdServiceProps;

	/** @param id name of the service and its router */
	constructor(scope: Construct, id: string, props: VllmPdServiceProps) {
		super(scope, id);
		this.props = props;
	}

	/** The `services` entry. */
	toDocument(): Section {
		const { healthCheck, prefill, decode, ...rest } = this.props;
		return new Map<string, unknown>([
			["type", this[KIND]],
			...section({ ...rest, healthCheck: nested(healthCheck) }),
			["prefill", vllmSection(prefill)],
			["decode", vllmSection(decode)],
		]);
	}
}
