/** Chooses how the submit host is reached. */
import { execFileSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { hostname as ownHostname } from "node:os";
import { join } from "node:path";
import { fail } from "../../errors.ts";
import { localTransport } from "./local.ts";
import { opensshTransport } from "./openssh.ts";
import { ssh2Transport } from "./ssh2.ts";
import type { Transport, TransportIo } from "./transport.ts";

/** The ways to a host other than this one. */
type Ssh = "openssh" | "ssh2";

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

/** Is there an `ssh` program on this PATH? */
function hasSsh(path = ""): boolean {
	return path.split(":").some((folder) => {
		try {
			const file = join(folder, "ssh");
			accessSync(file, constants.X_OK);
			return statSync(file).isFile();
		} catch {
			return false;
		}
	});
}

/**
 * The way that `GYMFILE_SSH` asks for; else the `ssh` program, which knows all of the user's configuration,
 * or the library where there is no such program.
 * @throws GymError exit `invalid`, code `ssh-unknown`
 */
export function sshFor(env: TransportIo["env"]): Ssh {
	const asked = env.GYMFILE_SSH;
	if (!asked) return hasSsh(env.PATH) ? "openssh" : "ssh2";
	if (asked === "openssh" || asked === "ssh2") return asked;
	throw fail("invalid", "ssh-unknown", `GYMFILE_SSH is "${asked}"`, "set it to openssh or ssh2, or unset it");
}

/**
 * A transport to the submit host: this machine for null and for the machine's own names, else ssh, whose
 * configuration `GYMFILE_SSH_CONFIG` may name.
 * @throws GymError exit `invalid`, codes `hostname-refused`, `ssh-unknown`
 */
export function connect(hostname: string | null, io: TransportIo): Transport {
	if (hostname === null || isThisMachine(hostname, ownHostname(), fullName)) return localTransport(io);
	const config = io.env.GYMFILE_SSH_CONFIG || null;
	if (sshFor(io.env) === "ssh2") return ssh2Transport({ hostname, config }, io);
	return opensshTransport({ hostname, sshArgs: config === null ? [] : ["-F", config] }, io);
}
