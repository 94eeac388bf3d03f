/**
 * A submit host over the `ssh` program, which reads the user's own configuration: aliases, jump hosts,
 * ports, agents, Kerberos. One master connection carries all exchanges: one that the user has open already,
 * else our own, whose socket lies in a private folder and which `close` ends.
 *
 * Host keys: we set no StrictHostKeyChecking, the user's configuration rules. With its default, ssh asks the
 * person at the terminal about an unknown key; with nobody there the exchange is refused.
 */
import { fail, type GymError } from "../../errors.ts";
import { makeControlFolder, removeControlFolder } from "./control-folder.ts";
import { cutOff, lastWords, lost, readAnswer, trailer, wrapScript } from "./envelope.ts";
import { checkHostname } from "./hostname.ts";
import type { ProcessResult } from "./output.ts";
import { runProcess } from "./process.ts";
import { droppedLater, HAND_MADE_PATH, type OpensshHost, sshFailure } from "./ssh-failure.ts";
import { DEFAULT_TIMEOUT_MS, type Transport, type TransportIo } from "./transport.ts";

/** How an exchange finds its master connection. */
interface Master {
	readonly args: readonly string[];
	/** The folder of our own socket; null when the master is the user's. */
	readonly folder: string | null;
}

/** Milliseconds that questions to a master connection may take. */
const CONTROL_TIMEOUT_MS = 10_000;

/** The master ends so long after its last exchange when nobody closes it. */
const PERSIST_SECONDS = 300;

/** For every call: no forwards and no remote command of the user's configuration, no waiting for a dead peer. */
const OPTIONS = [
	"ConnectTimeout=30",
	"ServerAliveInterval=15",
	"ServerAliveCountMax=4",
	"ClearAllForwardings=yes",
	"RemoteCommand=none",
	"RequestTTY=no",
];

function options(values: readonly string[]): readonly string[] {
	return values.flatMap((value) => ["-o", value]);
}

/**
 * A transport over the `ssh` program. Nothing is contacted before the first `run`. ssh runs in a session of
 * its own, out of reach of a ctrl-C; only when a person is there (`io.terminal`) the master is opened in the
 * foreground first, so that ssh can ask.
 * @throws GymError exit `invalid`, code `hostname-refused`, for a name that ssh would take for an option
 */
export function opensshTransport(host: OpensshHost, io: TransportIo): Transport {
	const { hostname, sshArgs } = host;
	checkHostname(hostname);
	const ssh = async (
		args: readonly string[],
		rest: { input?: string; timeoutMs: number | null; last?: string; onStderr?: (words: string) => void },
	): Promise<ProcessResult> => {
		const asks = rest.input === undefined;
		const all = [...sshArgs, ...options(OPTIONS), ...args];
		const result = await runProcess({ program: "ssh", args: all, env: io.env, detached: !asks, ...rest });
		if (result.ended !== "not-started") return result;
		throw fail(
			"unreachable",
			"ssh-missing",
			`${hostname}: there is no ssh program on PATH`,
			"install the OpenSSH client",
		);
	};
	const control = (args: readonly string[]): Promise<ProcessResult> =>
		ssh([...args, "--", hostname], { input: "", timeoutMs: CONTROL_TIMEOUT_MS });

	/** A master connection that the user has opened: by the own configuration, or with the command that we name. */
	const usersMaster = async (): Promise<Master | null> => {
		for (const args of [[], options([`ControlPath=${HAND_MADE_PATH}`])]) {
			const answer = await control([...args, "-O", "check"]);
			if (/Master running/.test(answer.stderr.toString()))
				return { args: [...args, "-o", "ControlMaster=no"], folder: null };
		}
		return null;
	};
	const connect = async (): Promise<Master> => {
		const users = await usersMaster();
		if (users) return users;
		const folder = await makeControlFolder(io.env.TMPDIR);
		const path = options([`ControlPath=${folder}/%C`, `ControlPersist=${PERSIST_SECONDS}`]);
		const { terminal } = io;
		if (terminal) {
			const args = [...path, "-M", "-N", "-f", "--", hostname];
			const opened = await ssh(args, { timeoutMs: null, onStderr: terminal });
			if (opened.code !== 0) {
				await removeControlFolder(folder);
				throw sshFailure(opened.stderr, host);
			}
		}
		return { args: [...path, "-o", "ControlMaster=auto"], folder };
	};
	let master: Promise<Master> | null = null;
	const close = async (): Promise<void> => {
		const open = await master?.catch(() => null);
		master = null;
		if (!open?.folder) return;
		await control([...open.args, "-O", "exit"]).catch(() => undefined);
		await removeControlFolder(open.folder);
	};
	/** Why there is no answer. A connection that failed is not used again: the next exchange opens another. */
	const explain = async (result: ProcessResult, name: string, nonce: string): Promise<GymError> => {
		const { started } = readAnswer(result, nonce);
		const words = lastWords(result.stderr, nonce) || lastWords(result.stdout, nonce);
		if (started || result.code === null || droppedLater(result.stderr)) {
			return lost(hostname, name, words || "the connection ended before the script did");
		}
		if (result.code === 255) {
			await close();
			return sshFailure(result.stderr, host);
		}
		return fail(
			"unreachable",
			"shell-missing",
			`${hostname}: bash does not start there (${words || "it said nothing"})`,
			`this must print "yes": ssh ${[...sshArgs, hostname].join(" ")} 'bash -c "echo yes"'`,
		);
	};

	return {
		label: `${hostname}, ssh`,
		close,
		async run(name, script, { timeoutMs = DEFAULT_TIMEOUT_MS, login = false } = {}) {
			const nonce = io.nonce();
			const input = wrapScript(script, nonce);
			await io.points.reach(`exchange.${name}.before`);
			master ??= connect();
			const { args } = await master.catch((error: unknown) => {
				master = null;
				throw error;
			});
			const quiet = options(["BatchMode=yes", "LogLevel=ERROR"]);
			const result = await ssh([...args, ...quiet, "-T", "--", hostname, login ? "bash -l -s" : "bash -s"], {
				input,
				timeoutMs,
				last: trailer(nonce),
			});
			const error = cutOff(result, hostname, name, timeoutMs);
			if (error) throw error;
			const { exchange } = readAnswer(result, nonce);
			if (!exchange) throw await explain(result, name, nonce);
			await io.points.reach(`exchange.${name}.after`);
			return exchange;
		},
	};
}
