/** Child processes that must outlive a ctrl-C on our terminal, whose output is bounded and which never hang. */
import { type ChildProcess, spawn } from "node:child_process";
import { collectOutput, PIPE_GRACE_MS, type ProcessResult } from "./output.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 2_000;

/** What to run. */
export interface ProcessRequest {
	readonly program: string;
	readonly args: readonly string[];
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Working directory; default: ours. */
	readonly cwd?: string;
	/** Text for stdin; default: the child gets our own stdin, so that it can ask. */
	readonly input?: string;
	/** Put it in a session of its own, out of reach of the terminal's signals. */
	readonly detached: boolean;
	/** Milliseconds after which it is killed; null waits for ever. */
	readonly timeoutMs: number | null;
	/** Bytes whose appearance in stdout means that nothing of interest follows. */
	readonly last?: string;
	/** Gets stderr as it comes. */
	readonly onStderr?: (words: string) => void;
}

/** Runs one child process to its end. Never rejects. */
export function runProcess(request: ProcessRequest): Promise<ProcessResult> {
	return new Promise((resolve) => {
		const child = spawn(request.program, request.args, {
			env: { ...request.env },
			detached: request.detached,
			stdio: [request.input === undefined ? "inherit" : "pipe", "pipe", "pipe"],
			...(request.cwd === undefined ? {} : { cwd: request.cwd }),
		});
		const output = collectOutput(request.last);
		const timers: NodeJS.Timeout[] = [];
		let ended: ProcessResult["ended"] = "exit";
		let settled = false;

		const settle = (): void => {
			if (settled) return;
			settled = true;
			for (const timer of timers) clearTimeout(timer);
			child.stdin?.destroy();
			child.stdout?.destroy();
			child.stderr?.destroy();
			if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) terminate(child);
			child.unref();
			resolve(output.result(ended, child.exitCode));
		};
		const stop = (reason: "timeout" | "overflow"): void => {
			ended = reason;
			settle();
		};
		const settleSoon = (): void => {
			timers.push(setTimeout(settle, PIPE_GRACE_MS));
		};

		if (request.timeoutMs !== null) timers.push(setTimeout(() => stop("timeout"), request.timeoutMs));
		child.stdout?.on("data", (chunk: Buffer) => {
			const seen = output.stdout(chunk);
			if (seen === "overflow") stop(seen);
			if (seen === "last") settleSoon();
		});
		child.stderr?.on("data", (chunk: Buffer) => {
			request.onStderr?.(chunk.toString());
			output.stderr(chunk);
		});
		// The reader of stdin may be gone before all is written: its exit tells the story.
		child.stdin?.on("error", () => undefined);
		child.stdin?.end(request.input);
		child.on("error", () => {
			if (child.pid === undefined) ended = "not-started";
			settle();
		});
		child.on("exit", settleSoon);
		child.on("close", settle);
	});
}

/** Ends a child by its pid: politely, so that ssh removes its socket, then for good. */
function terminate(child: ChildProcess): void {
	child.kill("SIGTERM");
	const timer = setTimeout(() => child.kill("SIGKILL"), KILL_GRACE_MS);
	child.on("exit", () => clearTimeout(timer));
	timer.unref();
}
