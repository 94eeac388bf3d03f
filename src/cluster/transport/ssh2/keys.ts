/** The keys that may let us in: the agent's and those in files. */
import { readFile } from "node:fs/promises";
import ssh2, {
	type AgentAuthMethod,
	type BaseAgent,
	type IdentityCallback,
	type ParsedKey,
	type PublicKeyAuthMethod,
	type SignCallback,
	type SigningRequestOptions,
} from "ssh2";
import type { HostSettings } from "./settings.ts";

/** What to offer, in this order. */
export interface Offers {
	readonly methods: readonly (AgentAuthMethod | PublicKeyAuthMethod)[];
	/** Files whose keys need a pass phrase, so that only an agent can use them. */
	readonly locked: readonly string[];
}

/** One file of a key. */
interface KeyFile {
	readonly path: string;
	/** Null: locked, or only the public half is there. */
	readonly key: ParsedKey | null;
	/** Null when not even the public half is known. */
	readonly publicKey: Buffer | null;
	readonly locked: boolean;
}

/** An agent that holds a single key of another one. */
class OneKeyAgent extends ssh2.BaseAgent {
	readonly #agent: BaseAgent;
	readonly #key: ParsedKey;

	constructor(agent: BaseAgent, key: ParsedKey) {
		super();
		this.#agent = agent;
		this.#key = key;
	}

	override getIdentities(callback: IdentityCallback): void {
		callback(null, [this.#key]);
	}

	override sign(key: string | Buffer | ParsedKey, data: Buffer, ...rest: readonly unknown[]): void {
		const [options, callback] = rest as [SigningRequestOptions, SignCallback];
		this.#agent.sign(key, data, options, callback);
	}
}

/** The first key in a text; null for what holds none, and for a locked one. */
function parsed(text: string | null): ParsedKey | null {
	if (text === null) return null;
	const keys: ParsedKey | readonly ParsedKey[] | Error = ssh2.utils.parseKey(text);
	if (keys instanceof Error) return null;
	return Array.isArray(keys) ? (keys[0] ?? null) : (keys as ParsedKey);
}

async function readKeyFile(path: string): Promise<KeyFile> {
	const read = (file: string): Promise<string | null> => readFile(file, "utf8").catch(() => null);
	const text = await read(path);
	const found = parsed(text);
	const key = found?.isPrivateKey() ? found : null;
	const publicKey = (found ?? parsed(await read(`${path}.pub`)))?.getPublicSSH() ?? null;
	return { path, key, publicKey, locked: found === null && text?.includes("PRIVATE KEY-----") === true };
}

/** The keys that the agent holds; none when it does not answer. */
function identities(agent: BaseAgent): Promise<readonly ParsedKey[]> {
	return new Promise((resolve) => {
		agent.getIdentities((error, keys) => resolve(error ? [] : ((keys ?? []) as readonly ParsedKey[])));
	});
}

/**
 * What to offer to a host, in ssh's order: first the agent's keys that the configuration names, then its other
 * ones, then the files.
 */
export async function offersFor(settings: HostSettings): Promise<Offers> {
	const { user: username, identityFiles, identitiesOnly, agent: socket } = settings;
	const files = await Promise.all(identityFiles.map(readKeyFile));
	const agent = socket === null ? null : ssh2.createAgent(socket);
	const held = agent ? await identities(agent) : [];
	const heldAs = (file: KeyFile): ParsedKey | undefined =>
		held.find((key) => file.publicKey?.equals(key.getPublicSSH()));
	const named = files.flatMap((file) => heldAs(file) ?? []);
	const others = identitiesOnly ? [] : held.filter((key) => !named.includes(key));
	const loose = files.filter((file) => !heldAs(file));
	return {
		methods: [
			...[...named, ...others].map(
				(key): AgentAuthMethod => ({ type: "agent", username, agent: new OneKeyAgent(agent!, key) }),
			),
			...loose.flatMap(({ key }): PublicKeyAuthMethod[] =>
				key ? [{ type: "publickey", username, key }] : [],
			),
		],
		locked: loose.filter((file) => file.locked).map((file) => file.path),
	};
}
