/** This machine as the submit host: the same bash, without ssh. */
import { fail } from "../../errors.ts";
import { cutOff, lastWords, lost, readAnswer, trailer, wrapScript } from "./envelope.ts";
import { runProcess } from "./process.ts";
import { DEFAULT_TIMEOUT_MS, type Transport, type TransportIo } from "./transport.ts";

/** A transport to this machine. Scripts run in a session of their own, so a ctrl-C does not reach them. */
export function localTransport(io: TransportIo): Transport {
	const label = "this machine";
	return {
		label,
		async run(name, script, options = {}) {
			const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
			const nonce = io.nonce();
			const input = wrapScript(script, nonce);
			await io.points.reach(`exchange.${name}.before`);
			const result = await runProcess({
				program: "bash",
				args: options.login ? ["-l", "-s"] : ["-s"],
				env: io.env,
				cwd: "/",
				input,
				detached: true,
				timeoutMs,
				last: trailer(nonce),
			});
			if (result.ended === "not-started") {
				throw fail("unreachable", "shell-missing", `${label}: there is no bash on PATH`, "install bash");
			}
			const error = cutOff(result, label, name, timeoutMs);
			if (error) throw error;
			const { exchange } = readAnswer(result, nonce);
			if (!exchange)
				throw lost(label, name, lastWords(result.stderr, nonce) || "bash ended before the script did");
			await io.points.reach(`exchange.${name}.after`);
			return exchange;
		},
		async close() {},
	};
}
