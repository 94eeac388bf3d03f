/** Paths into the submit document. */

/** Keys and list positions, from the root. */
export type Path = readonly (string | number)[];

/**
 * The path as people read it: keys joined by dots, list items as `[0]`. Control characters of keys are
 * left out, so that a path is one line and nothing to a terminal.
 */
export function pathText(path: Path): string {
	const text = path.reduce<string>(
		(above, step) =>
			typeof step === "number" ? `${above}[${step}]` : above === "" ? step : `${above}.${step}`,
		"",
	);
	return text.replaceAll(/\p{Cc}/gu, "");
}
