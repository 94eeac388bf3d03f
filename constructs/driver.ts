import type { Construct } from "constructs";
import { Element } from "./element.ts";
import type { EnvValue } from "./env.ts";
import { KIND } from "./kind.ts";
import { nested, type Section, section } from "./section.ts";
import type { Mapping } from "./values.ts";
import type { VllmPdService } from "./vllm-pd-service.ts";
import type { VllmService } from "./vllm-service.ts";

/** A checkout of Gym that the driver installs before it runs. */
export interface GymInstallProps {
	/**
	 * Git repository.
	 * @default "https://github.com/NVIDIA-NeMo/gym"
	 */
	readonly repo?: string;
	/** Git tag or commit. */
	readonly ref: string;
}

/** Props of {@link Driver}. Document: `driver`, without its benchmarks. */
export interface DriverProps {
	/**
	 * Image that the driver runs in.
	 * @default "python:3.12"
	 */
	readonly container?: string;
	/**
	 * Gym to install into a fresh virtual environment; null when the image already contains Gym.
	 * @default null
	 */
	readonly gymInstall?: GymInstallProps | null;
	/**
	 * The model under evaluation: its address and name reach every benchmark's `run`.
	 * @default null
	 */
	readonly policyModel?: VllmService | VllmPdService | null;
	/**
	 * Host in the injected `policy_base_url`. `"${oc.env:HEAD_NODE_IP}"` is an address that other machines reach.
	 * @default "localhost"
	 */
	readonly policyHost?: string;
	/**
	 * `--model-type` of `gym eval run`; `""` passes none, for a benchmark that declares its own policy model.
	 * @default "openai_model"
	 */
	readonly policyModelType?: string;
	/**
	 * Environment of the driver.
	 * @default {}
	 */
	readonly env?: Mapping<EnvValue>;
	/**
	 * Bind mounts beside the benchmark's own folder, each `src`, `src:dst` or `src:dst:flags`.
	 * @default []
	 */
	readonly mounts?: readonly string[];
}

/** Runs the benchmarks against the services. A stack without one gets a driver with every default. */
export class Driver extends Element {
	readonly [KIND] = "driver" as const;
	readonly props: DriverProps;

	/** @param id name in the tree only; the document has one driver */
	constructor(scope: Construct, id: string, props: DriverProps = {}) {
		super(scope, id);
		this.props = props;
	}

	/** The `driver` section, without its benchmarks. */
	toDocument(): Section {
		const { gymInstall, ...rest } = this.props;
		return section({ ...rest, gymInstall: nested(gymInstall) });
	}
}
