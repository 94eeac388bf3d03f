/** Extra `#SBATCH` directives. */
import { directiveSets } from "./directive-sets.ts";
import type { Rule } from "./report.ts";

/** Directives that belong to the engine: it finds jobs by them, or they would break a chain. */
const OWN = ["chdir", "array", "hold", "dependency", "parsable", "requeue", "no-requeue", "signal"];
const OWN_SHORT = new Map([
	["D", "chdir"],
	["a", "array"],
	["H", "hold"],
	["d", "dependency"],
]);

/** Most that Slurm keeps of a comment. */
const LONGEST_COMMENT = 1024;

/** The engine's own directive that Slurm would take a key for: options may be abbreviated. */
function ownDirective(key: string): string | undefined {
	return OWN_SHORT.get(key) ?? OWN.find((own) => own === key || (key.length > 2 && own.startsWith(key)));
}

/** Keys are directive names, and not the engine's own. */
export const directiveNames: Rule = (config, report) => {
	for (const [path, directives] of directiveSets(config)) {
		for (const key of directives.keys()) {
			const own = ownDirective(key);
			if (own) {
				const message = `the directive ${own} is set by the engine`;
				report("error", "directive-reserved", [...path, key], message, "remove it");
			} else if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(key)) {
				const remedy = key.startsWith("-") ? "write it without leading dashes" : "letters, digits and dashes";
				report(
					"error",
					"directive-name",
					[...path, key],
					`${JSON.stringify(key)} is not a directive`,
					remedy,
				);
			}
		}
	}
};

/** Values stay on their line. */
export const directiveValues: Rule = (config, report) => {
	for (const [path, directives] of directiveSets(config)) {
		for (const [key, value] of directives) {
			if (typeof value !== "string") continue;
			if (/[\0-\x08\x0a-\x1f\x7f]/.test(value)) {
				const message = "the value holds a line break or control character, which would end the directive";
				report("error", "line-break", [...path, key], message, "write it on one line");
			}
			const bytes = new TextEncoder().encode(value).length;
			if (key === "comment" && bytes > LONGEST_COMMENT) {
				const message = `the comment has ${bytes} bytes, Slurm takes ${LONGEST_COMMENT}`;
				report("error", "comment-too-long", [...path, key], message, "shorten it");
			}
		}
	}
};
