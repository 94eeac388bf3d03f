/** Types of props that several constructs share. */
import type { Float } from "../src/submit/float.ts";

/** A mapping of the user's own names. A `Map` keeps the order of names that look like numbers, and takes any name. */
export type Mapping<V> = Readonly<Record<string, V>> | ReadonlyMap<string, V>;

/**
 * What `run` and `prepare` can hold: plain values, lists and mappings. A whole number is an integer there;
 * `float(1)` is 1.0. Properties that are undefined are left out.
 */
export type FreeValue =
	| null
	| undefined
	| boolean
	| number
	| string
	| Float
	| readonly FreeValue[]
	| { readonly [key: string]: FreeValue }
	| ReadonlyMap<string, FreeValue>;

/** Extra `#SBATCH` directives without leading dashes: text, `true` for the flag alone, `false` or null to leave it out. */
export type Directives = Mapping<string | number | boolean | null>;
