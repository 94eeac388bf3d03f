import type { Construct } from "constructs";
import { Element } from "./element.ts";
import { KIND } from "./kind.ts";
import { nested, type Section, section } from "./section.ts";
import type { FreeValue, Mapping } from "./values.ts";

/** How far a benchmark goes on in further jobs. */
export interface ResumableProps {
	/**
	 * How often a failure other than a timeout is submitted again.
	 * @default 3
	 */
	readonly maxRetries?: number;
	/**
	 * Cap on the walltime of all its jobs together, in Slurm's grammar; null is no cap.
	 * @default null
	 */
	readonly maxWalltime?: string | null;
}

/** What the engine may do to a benchmark. Not part of the submit document. */
export interface LifecycleProps {
	/**
	 * When the job changes while it is queued or running: `refuse` leaves it and fails the plan, `replace`
	 * cancels it and submits the new one.
	 * @default "refuse"
	 */
	readonly onChange?: "refuse" | "replace";
	/**
	 * How many jobs of a resumable benchmark may reach their time limit one after the other without a new rollout or
	 * model call; then the chain stops. null is any number.
	 * @default 3
	 */
	readonly noProgressLimit?: number | null;
}

/** What every benchmark can have. */
export interface BenchmarkCommonProps {
	/**
	 * Overrides for `gym eval prepare`, which runs first when there are any. `${…}` in them is for Gym.
	 * @default {}
	 */
	readonly prepare?: Mapping<FreeValue>;
	/**
	 * What the engine may do to it.
	 * @default {}
	 */
	readonly lifecycle?: LifecycleProps;
}

/** A benchmark of Gym's: `gym eval run`. */
export interface GymBenchmarkProps extends BenchmarkCommonProps {
	/**
	 * Overrides for `gym eval run`. `${…}` in them is for Gym.
	 * @default {}
	 */
	readonly run?: Mapping<FreeValue>;
	/**
	 * Goes on in a new job after a timeout, a preemption or a failure.
	 * @default false
	 */
	readonly resumable?: boolean | ResumableProps;
	/** No script: `gym eval run` runs. */
	readonly command?: null;
}

/** A benchmark of the user's own: a script takes the place of `gym eval run`, so there is no cache to go on from. */
export interface CommandBenchmarkProps extends BenchmarkCommonProps {
	/**
	 * A shell script that runs instead of `gym eval run`; not together with `run` or `resumable`.
	 * @default null
	 */
	readonly command: string;
	/** Not with a command. */
	readonly run?: never;
	/** Not with a command. */
	readonly resumable?: false;
}

/** Props of {@link Benchmark}. Document: `driver.benchmarks.<id>`. */
export type BenchmarkProps = GymBenchmarkProps | CommandBenchmarkProps;

/** One evaluation, one Slurm job (or a chain of them when resumable). Its address is `<stack>/<id>`. */
export class Benchmark extends Element {
	readonly [KIND] = "benchmark" as const;
	readonly props: BenchmarkProps;

	/** @param id name of the benchmark: letters, digits and `.`, `_`, `-` */
	constructor(scope: Construct, id: string, props: BenchmarkProps = {}) {
		super(scope, id);
		this.props = props;
	}

	/** The `driver.benchmarks` entry. */
	toDocument(): Section {
		const { lifecycle: _, resumable, ...rest } = this.props;
		return section({ ...rest, resumable: nested(resumable) });
	}
}
