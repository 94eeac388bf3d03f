/** Approval where nobody can be asked. */
import { fail } from "../errors.ts";
import type { Session } from "./session.ts";

/** @throws GymError exit `invalid`, code `no-terminal`, without a terminal and without `--auto-approve` */
export function requireConsent(session: Session): void {
	if (session.options["auto-approve"] === true || session.interactive) return;
	throw fail("invalid", "no-terminal", "there is nobody to ask for approval here", "add --auto-approve");
}
