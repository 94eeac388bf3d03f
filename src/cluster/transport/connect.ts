/** Chooses how the submit host is reached. */
import { execFileSync } from "node:child_process";
import { hostname as ownHostname } from "node:os";
import { localTransport } from "./local.ts";
import { opensshTransport } from "./openssh.ts";
import type { Transport, TransportIo } from "./transport.ts";

/** What `connect` needs of its surroundings. */
export interface ConnectIo extends TransportIo {
	/** More arguments for every ssh call. */
	readonly sshArgs: readonly string[];
}

/** The whole name of this machine; empty when it has none. */
function fullName(): string {
	try {
		return execFileSync("hostname", ["-f"], {
			encoding: "utf8",
			timeout: 2_000,
			stdio: ["ignore", "pipe", "ignore"],
		}).trim();
	} catch {
		return "";
	}
}

/**
 * Is this name one of this machine's own? A whole name is never taken for ours because its first part fits:
 * another site may have a `login` too.
 * @param own what the machine calls itself
 * @param full gives its whole name; asked only when the answer depends on it
 */
export function isThisMachine(hostname: string, own: string, full: () => string): boolean {
	const name = hostname.toLowerCase();
	const mine = own.toLowerCase();
	const short = mine.split(".")[0]!;
	if (name === "localhost" || name === mine || name === short) return true;
	return name.startsWith(`${short}.`) && name === full().toLowerCase();
}

/**
 * A transport to the submit host: this machine for null and for the machine's own names, else ssh.
 * @throws GymError exit `invalid`, code `hostname-refused`
 */
export function connect(hostname: string | null, io: ConnectIo): Transport {
	if (hostname === null || isThisMachine(hostname, ownHostname(), fullName)) return localTransport(io);
	return opensshTransport({ hostname, sshArgs: io.sshArgs }, io);
}
