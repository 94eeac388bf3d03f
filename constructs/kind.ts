/** How our classes are recognised: by a registered symbol, also when they come from a second copy of this package. */

/** The property that says what an object is. */
export const KIND: unique symbol = Symbol.for("gymfile.kind");

/** What the objects of this package are. `slurm`, `vllm` and the like are the document's own words. */
export type Kind =
	| "app"
	| "stack"
	| "slurm"
	| "local"
	| "pool"
	| "vllm"
	| "vllm_pd"
	| "ray"
	| "driver"
	| "otel"
	| "benchmark";

/** The kind of any value; undefined when it is not of this package. */
export function kindOf(value: unknown): Kind | undefined {
	return typeof value === "object" && value !== null ? (value as { [KIND]?: Kind })[KIND] : undefined;
}
