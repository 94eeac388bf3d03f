/** For tests of gymfiles: a stack's document, without a cluster, a state or the variables of a shell. */
import { GymError, type Problem } from "../../src/errors.ts";
import type { SubmitConfig, Value } from "../../src/submit/config.ts";
import { emitYaml } from "../../src/submit/emit.ts";
import { validateDocument } from "../../src/submit/validate.ts";
import type { App } from "../app.ts";
import type { EvalStack } from "../eval-stack.ts";
import { kindOf } from "../kind.ts";
import type { SynthesizedStack } from "../stack-document.ts";
import { synthApp } from "../synth.ts";

/** A stack that is valid. */
export interface StackResult {
	readonly stack: string;
	/** The submit document as written: only what was set, a `Map` for every mapping. */
	readonly document: ReadonlyMap<string, Value>;
	/** The document as `gym synth` prints it. */
	readonly yaml: string;
	/** Warnings and notes. */
	readonly problems: readonly Problem[];
	/** The validated document, every default filled in. */
	readonly config: SubmitConfig;
}

/**
 * Synthesizes and validates: all stacks of an App, or one. `host(…)` variables need not be set.
 * @throws GymError exit `invalid` with every problem, a line each in its message, when a stack has an error
 */
export function synth(app: App): readonly StackResult[];
export function synth(stack: EvalStack): StackResult;
export function synth(target: App | EvalStack): readonly StackResult[] | StackResult {
	const stacks = synthApp(target.node.root);
	if (kindOf(target) !== "stack") return stacks.map(validated);
	return validated(stacks.find(({ stack }) => stack === (target as EvalStack).name)!);
}

function validated({ stack, raw, sources, problems: before }: SynthesizedStack): StackResult {
	const options = { sources, hostEnv: () => undefined, missingHost: "note" } as const;
	const { config, problems: found } = validateDocument(raw, options);
	const problems = [...before, ...found];
	if (!config || problems.some(({ severity }) => severity === "error"))
		throw new GymError("invalid", problems);
	return { stack, document: raw, yaml: emitYaml(raw), problems, config };
}
