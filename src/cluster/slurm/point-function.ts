/** Named points inside remote scripts. */
import { quote } from "../../job/script/quote.ts";
import type { Points } from "../../points.ts";

/** The bash function `point NAME`; at the one that `points.remote` names, the script kills itself. */
export function pointFunction(points: Points): string {
	if (points.remote === undefined) return "point() { :; }";
	return `point() { [[ $1 != ${quote(points.remote)} ]] || kill -KILL "$BASHPID" "$$"; }`;
}
