/** One command over an open connection: no terminal, text on stdin, bounded output, never a wait without end. */
import type { Client } from "ssh2";
import { collectOutput, PIPE_GRACE_MS, type ProcessResult } from "../output.ts";
import { cannotReach } from "./failure.ts";

/** What to run. */
export interface ExchangeRequest {
	readonly command: string;
	/** Text for stdin. */
	readonly input: string;
	/** Milliseconds after which its channel is closed. */
	readonly timeoutMs: number;
	/** Bytes whose appearance in stdout means that nothing of interest follows. */
	readonly last: string;
}

/**
 * Runs one command to its end, or to the end of the connection.
 * @param host for messages
 * @throws GymError code `host-unreachable` when the command did not start
 */
export function exchangeOver(client: Client, host: string, request: ExchangeRequest): Promise<ProcessResult> {
	return new Promise((resolve, reject) => {
		const output = collectOutput(request.last);
		const timers: NodeJS.Timeout[] = [];
		let ended: ProcessResult["ended"] = "exit";
		let code: number | null = null;
		let closeChannel = (): void => undefined;

		const settle = (): void => {
			for (const timer of timers) clearTimeout(timer);
			client.off("error", broken);
			client.off("close", settle);
			closeChannel();
			resolve(output.result(ended, code));
		};
		const stop = (reason: "timeout" | "overflow"): void => {
			ended = reason;
			settle();
		};
		const settleSoon = (): void => {
			timers.push(setTimeout(settle, PIPE_GRACE_MS));
		};
		const broken = (error: Error): void => {
			output.stderr(Buffer.from(`\n${error.message}\n`));
			settle();
		};

		timers.push(setTimeout(() => stop("timeout"), request.timeoutMs));
		client.on("error", broken);
		client.on("close", settle);
		client.exec(request.command, (error, channel) => {
			if (error) {
				reject(cannotReach(host, error.message));
				return settle();
			}
			closeChannel = () => channel.close();
			channel.on("data", (chunk: Buffer) => {
				const seen = output.stdout(chunk);
				if (seen === "overflow") stop(seen);
				if (seen === "last") settleSoon();
			});
			channel.stderr.on("data", output.stderr);
			channel.on("exit", (status: number | null) => {
				code = status;
				settleSoon();
			});
			channel.on("close", settle);
			// The reader of stdin may be gone before all is written: its exit tells the story.
			channel.on("error", () => undefined);
			channel.end(request.input);
		});
	});
}
