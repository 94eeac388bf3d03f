/** Approval: where nobody can be asked, and where it was not given. */
import { fail, type GymError } from "../errors.ts";
import type { Session } from "./session.ts";

/** @throws GymError exit `invalid`, code `no-terminal`, without a terminal and without `--auto-approve` */
export function requireConsent(session: Session): void {
	if (session.options["auto-approve"] === true || session.interactive) return;
	throw fail("invalid", "no-terminal", "there is nobody to ask for approval here", "add --auto-approve");
}

/** What ends a command that was not approved: the answer was not yes, or Ctrl-C came in its place. */
export function notApproved({ signal }: Session, what: string): GymError {
	return signal.aborted
		? fail("interrupted", "interrupted", `${what}; nothing was changed`)
		: fail("declined", "declined", `${what}; nothing was changed`);
}
