/** Errors and warnings: what, where, what to do. */
import { EXIT, type ExitName, type Problem } from "../../errors.ts";
import type { Unstamped } from "./events.ts";
import { justify, pad, printable, printableLines, wrap } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { place, plural } from "./words.ts";

/** How a command that could not go on left the world, as far as it knows. */
export type Aftermath = "not-contacted" | "unknown";

export interface ProblemsScreen {
	readonly problems: readonly Problem[];
	readonly exit: ExitName;
	readonly aftermath: Aftermath;
}

const AFTERMATH: Readonly<Record<Aftermath, string>> = {
	"not-contacted": " Nothing was contacted.",
	unknown: "",
};

const PLACE_COLUMNS = 19;

/**
 * Every problem in a block of its own, then their number and the exit code.
 * @param shown problems that the plan has just shown in their place: they are only counted; default none
 */
export function problemsText(
	screen: ProblemsScreen,
	paint: Paint,
	shown: ReadonlySet<Problem> = new Set(),
): string {
	const errors = screen.problems.filter((problem) => problem.severity === "error").length;
	const footer = justify(
		`${plural(errors, "error")}.${AFTERMATH[screen.aftermath]}`,
		`exit ${EXIT[screen.exit]}`,
	);
	const blocks = screen.problems
		.filter((problem) => !shown.has(problem))
		.map((problem) => problemLines(problem, paint).join("\n"));
	return `${[...blocks, footer].join("\n\n")}\n`;
}

/** One problem: `error[code]  at: message`, below it where it was written and the remedy. */
export function problemLines(problem: Problem, paint: Paint): readonly string[] {
	const tag = `${problem.severity}[${problem.code}]`;
	const [first, ...rest] = printableLines(problem.at ? `${problem.at}: ${problem.message}` : problem.message);
	const [headLine, ...headRest] = wrap(`${tag}  ${first}`, "    ");
	const mark = problem.severity === "error" ? paint.error : paint.warn;
	const painted = headLine!.startsWith(tag) ? mark(tag) + headLine!.slice(tag.length) : headLine!;
	return [painted, ...headRest, ...rest.map((line) => `    ${line}`), ...whereLines(problem)];
}

function whereLines(problem: Problem): readonly string[] {
	const where = printable(place(problem.source));
	const remedy = problem.remedy ?? "";
	const notes = [problem.construct ?? "", remedy].filter((note) => note !== "");
	if (where === "") return notes.flatMap((note) => wrap(`  ${printable(note)}`, "  "));
	const [beside = "", ...below] = notes;
	const indent = " ".repeat(PLACE_COLUMNS + 4);
	return [
		...wrap(`  ${pad(where, PLACE_COLUMNS)}  ${printable(beside)}`.trimEnd(), indent),
		...below.flatMap((note) => wrap(indent + printable(note), indent)),
	];
}

/** The same as events: a `diagnostic` each, then `failed`. */
export function problemsEvents(screen: ProblemsScreen): readonly Unstamped[] {
	const errors = screen.problems.filter((problem) => problem.severity === "error").length;
	return [
		...screen.problems.map((problem) => ({ type: "diagnostic" as const, ...problemFields(problem) })),
		{ type: "failed", exit: screen.exit, exit_code: EXIT[screen.exit], errors },
	];
}

/** A problem as the fields of an event. */
export function problemFields(problem: Problem) {
	const { source, ...fields } = problem;
	return { ...fields, ...source };
}
