/** What may stand as the name of a submit host. */
import { fail } from "../../errors.ts";

/**
 * Refuses what ssh would take for an option, and what no name has.
 * @throws GymError exit `invalid`, code `hostname-refused`
 */
export function checkHostname(hostname: string): void {
	if (/^[^-\s\p{Cc}][^\s\p{Cc}]*$/u.test(hostname)) return;
	const remedy = "give a name, an alias or user@name";
	throw fail("invalid", "hostname-refused", `"${hostname}" is not a host name`, remedy);
}
