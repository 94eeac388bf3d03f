/** What the peer's readers make of our texts. */
import { execFileSync } from "node:child_process";
import { inspect } from "node:util";
import type { Value } from "../../src/submit/config.ts";
import { float } from "../../src/submit/float.ts";

const here = (path: string) => new URL(path, import.meta.url).pathname;

/** What each reader is given, see `read.py`. */
export interface Given {
	readonly PyYAML: string;
	readonly OmegaConf: string;
	readonly record: string;
	/** A submit file, and the variables of the submitting shell. */
	readonly submit: { readonly yaml: string; readonly env: Readonly<Record<string, string>> };
	/** Overrides. */
	readonly Hydra: readonly string[];
}

/** What a reader read; `Other` is what no document can hold, or why it was refused. */
export type Read = Value | Other;

/** A value of Python that is none of ours, or an error. */
export class Other {
	readonly description: string;

	constructor(description: string) {
		this.description = description;
	}
}

type Typed =
	| readonly ["map", readonly (readonly [string, Typed])[]]
	| readonly ["list", readonly Typed[]]
	| readonly ["text" | "int" | "float" | "other", string]
	| readonly ["word", boolean | null];

function decode(typed: Typed): Read {
	switch (typed[0]) {
		case "map":
			return new Map(typed[1].map(([key, item]) => [key, decode(item) as Value]));
		case "list":
			return typed[1].map((item) => decode(item) as Value);
		case "float":
			return float(Number(typed[1].replace("inf", "Infinity")));
		case "int":
			return Number.isSafeInteger(Number(typed[1])) ? Number(typed[1]) : new Other(typed[1]);
		case "other":
			return new Other(typed[1]);
		default:
			return typed[1];
	}
}

/** Reads all of `given`, in one process. */
export function read<R extends keyof Given>(reader: R, given: readonly Given[R][]): readonly Read[] {
	const python = execFileSync(here("../setup/peer"), { encoding: "utf8" }).trim();
	const output = execFileSync(python, [here("read.py"), reader], {
		input: JSON.stringify(given),
		encoding: "utf8",
		maxBuffer: 2 ** 28,
	});
	return (JSON.parse(output) as readonly Typed[]).map(decode);
}

/** Every detail of a value as text: types, the order of keys, `-0`. */
export function shown(value: unknown): string {
	return inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null });
}
