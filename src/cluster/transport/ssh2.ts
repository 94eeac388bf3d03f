/**
 * A submit host over the ssh2 library, for machines without an `ssh` program. It reads the user's ssh
 * configuration, known hosts, agent and keys as ssh does, but asks nobody: no pass phrases, passwords, second
 * factors or unknown host keys. One connection carries all exchanges. The library is loaded at the first.
 */
import { userInfo } from "node:os";
import { fail, type GymError } from "../../errors.ts";
import { cutOff, lastWords, lost, readAnswer, trailer, wrapScript } from "./envelope.ts";
import { checkHostname } from "./hostname.ts";
import type { ProcessResult } from "./output.ts";
import type { Connection } from "./ssh2/connection.ts";
import { DEFAULT_TIMEOUT_MS, type Transport, type TransportIo } from "./transport.ts";

/** Where to go. */
export interface Ssh2Host {
	/** As the user wrote it: a name, an alias of the ssh configuration, `user@name`. */
	readonly hostname: string;
	/** The ssh configuration; null: the usual files. */
	readonly config: string | null;
}

/** Why there is no answer from a command that started. */
function explain(result: ProcessResult, name: string, nonce: string, hostname: string): GymError {
	const words = lastWords(result.stderr, nonce) || lastWords(result.stdout, nonce);
	if (readAnswer(result, nonce).started || result.code === null) {
		return lost(hostname, name, words || "the connection ended before the script did");
	}
	return fail(
		"unreachable",
		"shell-missing",
		`${hostname}: bash does not start there (${words || "it said nothing"})`,
		'this command must print "yes" there: bash -c "echo yes"',
	);
}

/**
 * A transport over the ssh2 library. Nothing is contacted before the first `run`.
 * @throws GymError exit `invalid`, code `hostname-refused`
 */
export function ssh2Transport({ hostname, config }: Ssh2Host, io: TransportIo): Transport {
	checkHostname(hostname);
	const connect = async (timeoutMs: number): Promise<Connection> => {
		const { openConnection } = await import("./ssh2/connection.ts");
		const { username, homedir } = userInfo();
		const person = { name: username, home: homedir, env: io.env };
		return openConnection({ hostname, config, person, timeoutMs });
	};
	let connection: Promise<Connection> | null = null;
	/** The connection that stands, else a new one, which exchanges that come together share. */
	const connected = async (timeoutMs: number): Promise<Connection> => {
		const before = connection;
		const open = await before?.catch(() => null);
		if (open?.alive()) return open;
		if (connection === null || connection === before) connection = connect(timeoutMs);
		return connection;
	};

	return {
		label: `${hostname}, ssh2`,
		async close() {
			const open = await connection?.catch(() => null);
			connection = null;
			open?.end();
		},
		async run(name, script, { timeoutMs = DEFAULT_TIMEOUT_MS, login = false } = {}) {
			const nonce = io.nonce();
			const input = wrapScript(script, nonce);
			await io.points.reach(`exchange.${name}.before`);
			const { run } = await connected(timeoutMs);
			const command = login ? "bash -l -s" : "bash -s";
			const result = await run({ command, input, timeoutMs, last: trailer(nonce) });
			const error = cutOff(result, hostname, name, timeoutMs);
			if (error) throw error;
			const { exchange } = readAnswer(result, nonce);
			if (!exchange) throw explain(result, name, nonce, hostname);
			await io.points.reach(`exchange.${name}.after`);
			return exchange;
		},
	};
}
