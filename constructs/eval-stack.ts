import type { Construct } from "constructs";
import { Element } from "./element.ts";
import { KIND } from "./kind.ts";
import { type Section, section } from "./section.ts";

/** Props of {@link EvalStack}. */
export interface EvalStackProps {
	/**
	 * Base folder on the cluster, absolute. Each submission makes its own folder in it.
	 * For LocalCompute a relative path counts from the gymfile's folder. Document: `job.output_path`.
	 */
	readonly outputPath: string;
}

/**
 * One submit document with its own state: one compute, its services, a driver and the benchmarks. Whatever is
 * made anywhere below it belongs to it, also inside constructs of your own. Its id is the stack's name.
 */
export class EvalStack extends Element {
	readonly [KIND] = "stack" as const;
	readonly props: EvalStackProps;

	/** @param id name of the stack: letters, digits and `.`, `_`, `-` */
	constructor(scope: Construct, id: string, props: EvalStackProps) {
		super(scope, id);
		this.props = props;
	}

	/** The document's `job` section. */
	toDocument(): Section {
		return section(this.props);
	}
}
