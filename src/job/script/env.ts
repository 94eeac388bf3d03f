/**
 * How a step gets its variables. Literals are set by the step's own shell. Values of `host:` and `runtime:`
 * reach it in srun's environment under neutral names, so that an image's variable of the same name never
 * wins, and no value is in any argument.
 */
import type { EnvEntry, StepBase } from "../model.ts";
import { secretName } from "../secrets.ts";
import { quote } from "./quote.ts";

function carried(step: StepBase): readonly EnvEntry[] {
	return step.env.filter(({ kind }) => kind !== "lit");
}

/** Lines for the subshell that becomes the step's srun. */
export function carryLines(step: StepBase): readonly string[] {
	const entries = carried(step);
	const values = entries.map(({ kind, name, value }, i) => {
		const source = kind === "host" ? `$${secretName(step, name)}` : `\${${value}-}`;
		return `export GYM_E${i}="${source}"`;
	});
	return [
		...(entries.some(({ kind }) => kind === "host")
			? ["# shellcheck source=/dev/null", ". ./.env || exit 74"]
			: []),
		...values,
	];
}

/** Lines at the head of the step's own script. */
export function receiveLines(step: StepBase): readonly string[] {
	const neutral = new Map(carried(step).map(({ name }, i) => [name, `GYM_E${i}`]));
	const lines = step.env.map(({ name, value }) =>
		neutral.has(name) ? `export ${name}="$${neutral.get(name)}"` : `export ${name}=${quote(value)}`,
	);
	return neutral.size > 0 ? [...lines, `unset ${[...neutral.values()].join(" ")}`] : lines;
}
