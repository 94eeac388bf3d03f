/** Why a host cannot be reached, in the codes and words that the ssh program's failures have too. */
import { fail, type GymError } from "../../../errors.ts";
import { FAILURES } from "../ssh-failure.ts";

/** How many letters of an answer are shown. */
const SAID_LIMIT = 400;

/**
 * @param host which host on the way
 * @param said the words of the system or of the other side
 */
export function ssh2Failure(
	host: string,
	code: keyof typeof FAILURES,
	said: string,
	remedy: string,
): GymError {
	const words = said.replace(/\p{Cc}+/gu, " ").slice(0, SAID_LIMIT);
	return fail("unreachable", code, `${host}: ${FAILURES[code]}${words && ` (ssh2: ${words})`}`, remedy);
}

/** The error for a connection that never stood. */
export function cannotReach(host: string, said: string): GymError {
	return ssh2Failure(host, "host-unreachable", said, "check the name, the port and the network");
}
