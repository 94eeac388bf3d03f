/** The view of a command: human or JSON, colours decided once for each stream. */
import type { ColorSupportLevel } from "chalk";
import { VERSION } from "../version.ts";
import { type Parsed, textOption } from "./options.ts";
import { paintFor } from "./views/paint.ts";
import type { ShowJob } from "./views/plan-changes.ts";
import { humanView, jsonView, type Sink, type View } from "./views/view.ts";

/** The part of a session that decides how things are said. */
interface Speaker extends Sink {
	readonly options: Parsed;
	readonly env: NodeJS.ProcessEnv;
}

/** `-no-color` and `--color` win, then NO_COLOR, then FORCE_COLOR, then whether there is a terminal. */
function colorLevel(session: Speaker, isTerminal: boolean): ColorSupportLevel {
	const { options, env } = session;
	const when = textOption(options, "color");
	if (options["no-color"] === true || when === "never") return 0;
	if (when === "always") return 1;
	if (env.NO_COLOR) return 0;
	if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0") return 1;
	return isTerminal && env.TERM !== "dumb" ? 1 : 0;
}

/** Time of day on this machine, of the cluster's epoch seconds. */
function clock(epochSeconds: number): string {
	return new Date(epochSeconds * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

/** The view that the options ask for. With `-json`, stdout holds events only. */
export function makeView(session: Speaker): View {
	if (session.options.json === true) {
		return jsonView(session, { gymfile: VERSION, now: () => new Date().toISOString() });
	}
	const showJob = (textOption(session.options, "show-job") ?? "fold") as ShowJob;
	return humanView(session, {
		paint: paintFor(colorLevel(session, process.stdout.isTTY === true)),
		errorPaint: paintFor(colorLevel(session, process.stderr.isTTY === true)),
		showJob,
		clock,
	});
}
