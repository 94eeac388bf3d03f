import type { Construct } from "constructs";
import { Element } from "./element.ts";
import type { EnvValue } from "./env.ts";
import { KIND } from "./kind.ts";
import { type Section, section } from "./section.ts";
import type { Mapping } from "./values.ts";

/** Props of {@link LocalCompute}. Document: `compute.<id>` with `type: local`. */
export interface LocalComputeProps {
	/**
	 * Time limit of one job, in Slurm's grammar: `HH:MM:SS` and its shorter forms.
	 * @default null
	 */
	readonly walltime?: string | null;
	/**
	 * Variables of every job.
	 * @default {}
	 */
	readonly env?: Mapping<EnvValue>;
}

/** This machine: jobs run as plain processes, one at a time, without Slurm and containers. */
export class LocalCompute extends Element {
	readonly [KIND] = "local" as const;
	readonly props: LocalComputeProps;

	/** @param id name of the `compute` entry */
	constructor(scope: Construct, id: string, props: LocalComputeProps = {}) {
		super(scope, id);
		this.props = props;
	}

	/** The `compute` entry. */
	toDocument(): Section {
		return new Map<string, unknown>([["type", this[KIND]], ...section(this.props)]);
	}
}
