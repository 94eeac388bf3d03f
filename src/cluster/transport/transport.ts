/** How we reach the machine that submits. One contract test suite covers every implementation. */
import type { Points } from "../../points.ts";

/** What a remote script left. `stdout` starts after our own sentinel: banners and rc chatter are cut off. */
export interface Exchange {
	/** Exit code of the script, 128 + n when signal n killed it. */
	readonly code: number;
	readonly stdout: string;
	/** At most 1 MiB, the rest is dropped. */
	readonly stderr: string;
}

/**
 * One connection to a submit host. `run` sends a bash script on stdin to `bash -s` (never a tty, no
 * value in any argument list). The remote script outlives a killed client when it ignores HUP and PIPE.
 */
export interface Transport {
	/** For messages: `login.lab.example, ssh` or `this machine`. */
	readonly label: string;
	/**
	 * Runs a bash script on the host. It starts whole or not at all (a half-sent script never runs), reads
	 * an empty stdin, and has no working directory that it may rely on. At most 64 MiB of stdout.
	 * @param name point name of the exchange, e.g. `submit`
	 * @param options.timeoutMs after which the exchange counts as lost (default 180 000)
	 * @param options.login run it as a login shell (once, when sbatch is not on PATH)
	 * @throws GymError exit `unreachable`: `host-unreachable`, `host-key-changed`, `host-key-unknown`,
	 *   `auth-failed`, `ssh-missing`, `ssh-config-refused`, `shell-missing`: the script has not run; `exchange-lost`: nobody knows whether it did.
	 *   Exit `failure`: `output-too-large`
	 */
	run(name: string, script: string, options?: { timeoutMs?: number; login?: boolean }): Promise<Exchange>;
	/** Ends our master connection; remote scripts go on. Never throws. */
	close(): Promise<void>;
}

/** What a transport needs from its surroundings. */
export interface TransportIo {
	/** Every exchange passes `exchange.<name>.before` and, once its answer is there, `exchange.<name>.after`. */
	readonly points: Points;
	/** A new random word of letters and digits, at least 16 characters, for each call. */
	readonly nonce: () => string;
	/** Environment of the child processes; programs are looked up on its PATH. */
	readonly env: Readonly<Record<string, string | undefined>>;
	/**
	 * Shows ssh's own words to the person at the terminal; null when nobody is there. With a person, ssh may
	 * ask for passwords, second factors and unknown host keys, once, on the terminal.
	 */
	readonly terminal: ((words: string) => void) | null;
}

/** Milliseconds after which an exchange counts as lost when the caller says nothing. */
export const DEFAULT_TIMEOUT_MS = 180_000;
