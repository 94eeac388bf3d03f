/**
 * What commands say, for people and as JSON. A command calls one `View` and does not know which; what is said
 * is computed by pure functions, one file a command.
 */
import type { Holder } from "../../../state/store.ts";
import type { Change } from "../../apply/wait.ts";
import type { Problem } from "../../errors.ts";
import type { Plan } from "../../plan/plan.ts";
import {
	type ApplyOutcome,
	type ApplySummary,
	outcomeEvent,
	outcomesText,
	summaryEvent,
	summaryText,
} from "./apply.ts";
import { type DocumentScreen, documentEvent, documentText } from "./document.ts";
import { EVENT_FORMAT, type Event, type Unstamped } from "./events.ts";
import { printable } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { planEvents, planText } from "./plan.ts";
import type { ShowJob } from "./plan-changes.ts";
import { type ProblemsScreen, problemsEvents, problemsText } from "./problems.ts";
import { type StatusScreen, statusEvents, statusText } from "./status.ts";
import { tookOverText, type ValidScreen, validEvents, validText } from "./valid.ts";
import { waitingEvent, waitingText } from "./waiting.ts";
import { type WhyScreen, whyEvent, whyText } from "./why.ts";

/** Where text goes: `out` is stdout, `err` stderr. */
export interface Sink {
	readonly out: (text: string) => void;
	readonly err: (text: string) => void;
}

export interface View {
	plan(plan: Plan): void;
	/** An expired lock was taken over. */
	tookOver(stack: string, holder: Holder): void;
	/** A document is valid; warnings are shown. */
	valid(screen: ValidScreen): void;
	/** A stack's submit document was made. */
	document(screen: DocumentScreen): void;
	/** Apply begins to act. */
	applyStart(stack: string, submit: number, cancel: number): void;
	/** `addresses`: of all that there will be, so that outcomes told one by one stand in line. */
	applyOutcomes(outcomes: readonly ApplyOutcome[], addresses: readonly string[]): void;
	applyComplete(summary: ApplySummary): void;
	status(screen: StatusScreen): void;
	/** The story of one run. */
	why(screen: WhyScreen): void;
	/** A run that is waited for has another status. */
	waiting(change: Change): void;
	/** One line of a job's log. */
	logLine(address: string, source: string, line: string): void;
	/** The command cannot go on. */
	problems(screen: ProblemsScreen): void;
}

export interface HumanOptions {
	/** For stdout. */
	readonly paint: Paint;
	/** For stderr. */
	readonly errorPaint: Paint;
	readonly showJob: ShowJob;
	/** Time of day of the cluster's epoch seconds, e.g. `14:20`. */
	readonly clock: (epochSeconds: number) => string;
}

/** Screens for people: what a command answers on stdout, problems and waiting on stderr. */
export function humanView(sink: Sink, options: HumanOptions): View {
	const shown = new Set<Problem>();
	let plans = 0;
	return {
		plan(plan) {
			for (const { refused } of plan.actions) if (refused) shown.add(refused);
			const gap = plans === 0 ? "" : "\n";
			plans += 1;
			sink.out(gap + planText(plan, options));
		},
		tookOver: (stack, holder) => sink.err(`${tookOverText(stack, holder)}\n`),
		valid: (screen) => sink.out(validText(screen, options.paint)),
		document: (screen) => sink.out(documentText(screen)),
		applyStart: () => undefined,
		applyOutcomes: (outcomes, addresses) => sink.out(outcomesText(outcomes, addresses, options)),
		applyComplete: (summary) => sink.out(summaryText(summary)),
		status: (screen) => sink.out(statusText(screen, options)),
		why: (screen) => sink.out(whyText(screen, options)),
		waiting: (change) => sink.out(waitingText(change)),
		logLine: (_address, source, line) => sink.out(`${printable(source)} | ${printable(line)}\n`),
		problems: (screen) => sink.err(problemsText(screen, options.errorPaint, shown)),
	};
}

export interface JsonOptions {
	/** Version of this program. */
	readonly gymfile: string;
	/** Now, ISO 8601 in UTC. */
	readonly now: () => string;
}

/** Events, one a line, all on stdout. Writes the `version` line at once. */
export function jsonView(sink: Sink, options: JsonOptions): View {
	const write = (event: Event) => sink.out(`${JSON.stringify(event)}\n`);
	const emit = (events: readonly Unstamped[]) => {
		for (const { type, ...fields } of events) write({ type, ts: options.now(), ...fields } as Event);
	};
	write({ type: "version", format: EVENT_FORMAT, gymfile: options.gymfile });
	return {
		plan: (plan) => emit(planEvents(plan)),
		tookOver: (stack, holder) =>
			emit([
				{
					type: "diagnostic",
					severity: "note",
					code: "lock-taken-over",
					at: "",
					message: tookOverText(stack, holder),
				},
			]),
		valid: (screen) => emit(validEvents(screen)),
		document: (screen) => emit([documentEvent(screen)]),
		applyStart: (stack, submit, cancel) => emit([{ type: "apply_start", stack, submit, cancel }]),
		applyOutcomes: (outcomes) => emit(outcomes.map(outcomeEvent)),
		applyComplete: (summary) => emit([summaryEvent(summary)]),
		status: (screen) => emit(statusEvents(screen)),
		why: (screen) => emit([whyEvent(screen)]),
		waiting: (change) => emit([waitingEvent(change)]),
		logLine: (addr, source, line) => emit([{ type: "log", addr, source, line }]),
		problems: (screen) => emit(problemsEvents(screen)),
	};
}
