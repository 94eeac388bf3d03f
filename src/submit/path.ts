/** Paths into the submit document. */

/** Keys and list positions, from the root. */
export type Path = readonly (string | number)[];

/** The path as people read it: keys joined by dots, list items as `[0]`. */
export function pathText(path: Path): string {
	return path.reduce<string>(
		(text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`),
		"",
	);
}
