/** What a process says, here or on the other side of a connection: bounded, and watched for its last words. */

/** Most bytes of stdout that an exchange may answer with. */
export const STDOUT_LIMIT = 64 * 1024 * 1024;

const STDERR_LIMIT = 1024 * 1024;

/** Milliseconds between the end of a process and giving up on pipes that its children still hold. */
export const PIPE_GRACE_MS = 1_000;

/** How a process ended. */
export interface ProcessResult {
	/** `exit`: by itself; `timeout` and `overflow`: ended by us; `not-started`: no such program. */
	readonly ended: "exit" | "timeout" | "overflow" | "not-started";
	/** Exit code; null when it was killed, never started, or the connection to it broke. */
	readonly code: number | null;
	readonly stdout: Buffer;
	readonly stderr: Buffer;
}

/** Collects what one process says. */
export interface Output {
	/** Takes bytes of stdout. Says `overflow` beyond the limit, and `last` once nothing of interest follows. */
	stdout(chunk: Buffer): "overflow" | "last" | null;
	/** Takes bytes of stderr; those beyond 1 MiB are dropped. */
	stderr(chunk: Buffer): void;
	/** All of it so far. */
	result(ended: ProcessResult["ended"], code: number | null): ProcessResult;
}

/**
 * An empty collection.
 * @param last bytes whose appearance in stdout means that nothing of interest follows
 */
export function collectOutput(last: string | undefined): Output {
	const stdout: Buffer[] = [];
	const stderr: Buffer[] = [];
	let stdoutSize = 0;
	let stderrSize = 0;
	let tail = "";
	return {
		stdout(chunk) {
			stdoutSize += chunk.length;
			if (stdoutSize > STDOUT_LIMIT) return "overflow";
			stdout.push(chunk);
			if (last === undefined) return null;
			tail = tail.slice(-last.length) + chunk.toString("latin1");
			return tail.includes(last) ? "last" : null;
		},
		stderr(chunk) {
			if (stderrSize < STDERR_LIMIT) stderr.push(chunk.subarray(0, STDERR_LIMIT - stderrSize));
			stderrSize += chunk.length;
		},
		result: (ended, code) => ({
			ended,
			code: ended === "exit" ? code : null,
			stdout: Buffer.concat(stdout),
			stderr: Buffer.concat(stderr),
		}),
	};
}
