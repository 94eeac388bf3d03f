/** What `gym validate` says when there are no errors, and the note of a lock that was taken over. */
import type { Holder } from "../../../state/store.ts";
import type { Problem } from "../../errors.ts";
import type { Unstamped } from "./events.ts";
import { printable } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { problemFields, problemLines } from "./problems.ts";
import { plural } from "./words.ts";

export interface ValidScreen {
	readonly stacks: readonly string[];
	/** Warnings and notes. */
	readonly problems: readonly Problem[];
}

/** Warnings first, then one line that says what is valid. */
export function validText(screen: ValidScreen, paint: Paint): string {
	const blocks = screen.problems.map((problem) => problemLines(problem, paint).join("\n"));
	const warnings = screen.problems.filter((problem) => problem.severity === "warning").length;
	const names = screen.stacks.map(printable).join(", ");
	const end = `Valid: ${names}.${warnings > 0 ? ` ${plural(warnings, "warning")}.` : ""}`;
	return `${[...blocks, end].join("\n\n")}\n`;
}

/** The same as events. */
export function validEvents(screen: ValidScreen): readonly Unstamped[] {
	return screen.problems.map((problem) => ({ type: "diagnostic" as const, ...problemFields(problem) }));
}

/** One line about a lock whose holder is gone. */
export function tookOverText(stack: string, holder: Holder): string {
	const who = `${holder.user} on ${holder.host} (pid ${holder.pid}, ${holder.operation})`;
	return printable(`The lock of ${stack} was held by ${who}, which is gone: taken over.`);
}
