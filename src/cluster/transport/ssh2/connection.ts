/** A connection over the ssh2 library, through the jump hosts of the user's configuration. */
import type { Duplex } from "node:stream";
import ssh2, { type AnyAuthMethod, type Client, type ServerHostKeyAlgorithm } from "ssh2";
import type { GymError } from "../../../errors.ts";
import type { ProcessResult } from "../output.ts";
import { readSshConfig } from "./config-file.ts";
import { parseDestination } from "./destination.ts";
import { type ExchangeRequest, exchangeOver } from "./exchange.ts";
import { cannotReach, ssh2Failure } from "./failure.ts";
import { hostKeyCheck } from "./host-key.ts";
import { offersFor } from "./keys.ts";
import { type HostSettings, type Person, routeTo } from "./settings.ts";

/** An open connection to a submit host. */
export interface Connection {
	/**
	 * Runs one command there.
	 * @throws GymError code `host-unreachable` when it did not start
	 */
	run(request: ExchangeRequest): Promise<ProcessResult>;
	/** It still stands, as far as we know. */
	alive(): boolean;
	/** Ends it, and what it passes through. */
	end(): void;
}

/** Where a connection goes and what it may use. */
export interface ConnectionRequest {
	/** As the user wrote it. */
	readonly hostname: string;
	/** The configuration file; null: the usual ones. */
	readonly config: string | null;
	readonly person: Person;
	/** Milliseconds that each host on the way may take at most, besides its own limit. */
	readonly timeoutMs: number;
}

/** What the library says about its errors. */
interface ClientError extends Error {
	readonly level?: string;
}

function loginFailure({ alias }: HostSettings, said: string, locked: readonly string[]): GymError {
	const remedy =
		locked.length > 0
			? `these keys need a pass phrase, so load them into the agent (ssh-add): ${locked.join(", ")}`
			: "load your key into the agent (ssh-add), or name it with IdentityFile; where the host asks for a password or a second factor, install the OpenSSH client";
	return ssh2Failure(alias, "auth-failed", said, remedy);
}

/** Milliseconds that reaching one host may take. */
function timeLimit({ connectTimeoutMs }: HostSettings, timeoutMs: number): number {
	return Math.min(connectTimeoutMs, timeoutMs);
}

/** Opens one connection, over `sock` when there is one. */
async function open(settings: HostSettings, sock: Duplex | null, timeoutMs: number): Promise<Client> {
	const check = await hostKeyCheck(settings);
	const client = new ssh2.Client();
	let refusal: GymError | null = null;
	let locked: readonly string[] = [];
	let offers: Promise<AnyAuthMethod[]> | null = null;
	const nextOffer = async (): Promise<AnyAuthMethod | false> => {
		offers ??= offersFor(settings).then((found) => {
			locked = found.locked;
			return [...found.methods];
		});
		return (await offers).shift() ?? false;
	};
	try {
		await new Promise<void>((resolve, reject) => {
			client.on("ready", resolve);
			client.on("close", () => reject(cannotReach(settings.alias, "the connection was closed")));
			// After the connection stands its errors are told by its end.
			client.on("error", (error: ClientError) => {
				// The library goes on with the next key.
				if (error.level === "agent") return;
				if (refusal) reject(refusal);
				else if (error.level === "client-authentication")
					reject(loginFailure(settings, error.message, locked));
				else reject(cannotReach(settings.alias, error.message));
			});
			client.connect({
				...(sock ? { sock } : { host: settings.hostname, port: settings.port }),
				username: settings.user,
				readyTimeout: timeLimit(settings, timeoutMs),
				keepaliveInterval: settings.aliveIntervalMs,
				keepaliveCountMax: settings.aliveCountMax,
				algorithms: { serverHostKey: [...check.algorithms] as ServerHostKeyAlgorithm[] },
				hostVerifier: (key: Buffer) => {
					refusal = check.refusal(key);
					return refusal === null;
				},
				authHandler: (_left, _partial, next) => {
					// `false` says that there are no more; the types do not know it.
					void nextOffer().then((offer) => next(offer as AnyAuthMethod));
				},
			});
		});
	} catch (error) {
		client.destroy();
		throw error;
	}
	await check.remember();
	return client;
}

/** A way from a jump host to the next one. */
function passOn(jump: Client, settings: HostSettings, timeoutMs: number): Promise<Duplex> {
	const { alias, hostname, port } = settings;
	return new Promise((resolve, reject) => {
		const limit = timeLimit(settings, timeoutMs);
		const late = (): void =>
			reject(cannotReach(alias, `no answer through the jump host in ${limit / 1000} s`));
		const timer = setTimeout(late, limit);
		jump.forwardOut("127.0.0.1", 0, hostname, port, (error, channel) => {
			clearTimeout(timer);
			if (error) return reject(cannotReach(alias, error.message));
			// Other than a socket it stays open on our side when the other one ends.
			channel.on("end", () => channel.destroy());
			resolve(channel);
		});
	});
}

/**
 * Opens a connection.
 * @throws GymError exit `unreachable`: `host-unreachable`, `host-key-changed`, `host-key-unknown`,
 *   `auth-failed`, `ssh-config-refused`
 */
export async function openConnection(request: ConnectionRequest): Promise<Connection> {
	const { hostname, config, person, timeoutMs } = request;
	const entries = await readSshConfig(config, person.home);
	const clients: Client[] = [];
	const end = (): void => {
		for (const client of clients.toReversed()) client.destroy();
	};
	try {
		for (const settings of routeTo(parseDestination(hostname), entries, person)) {
			const jump = clients.at(-1);
			clients.push(await open(settings, jump ? await passOn(jump, settings, timeoutMs) : null, timeoutMs));
		}
	} catch (error) {
		end();
		throw error;
	}
	const last = clients.at(-1)!;
	let alive = true;
	last.on("close", () => {
		alive = false;
		end();
	});
	return { run: (exchange) => exchangeOver(last, hostname, exchange), alive: () => alive, end };
}
