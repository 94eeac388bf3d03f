/** How we reach the machine that submits. One contract test suite covers every implementation. */

/** What a remote script left. `stdout` starts after our own sentinel: banners and rc chatter are cut off. */
export interface Exchange {
	/** Exit code of the script; null when the connection ended before it was known. */
	readonly code: number | null;
	readonly stdout: string;
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
	 * Runs a bash script on the host.
	 * @param name point name of the exchange, e.g. `submit`
	 * @param options.timeoutMs after which the exchange counts as lost (default 180 000)
	 * @param options.login run it as a login shell (once, when sbatch is not on PATH)
	 * @throws GymError exit `unreachable`, codes `host-unreachable`, `host-key-changed`, `auth-failed`, `exchange-lost`
	 */
	run(name: string, script: string, options?: { timeoutMs?: number; login?: boolean }): Promise<Exchange>;
	/** Ends our master connection; remote scripts go on. Never throws. */
	close(): Promise<void>;
}
