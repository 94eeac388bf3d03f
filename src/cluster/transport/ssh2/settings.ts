/** How one host is reached, after the user's ssh configuration. Pure. */
import { join } from "node:path";
import { fail } from "../../../errors.ts";
import type { Entry } from "./config-file.ts";
import { type Destination, parseDestination } from "./destination.ts";
import { nameOnRecord } from "./known-hosts.ts";
import { type Found, lookUp, needsSsh } from "./lookup.ts";

/** Who runs this program, and where. */
export interface Person {
	readonly name: string;
	readonly home: string;
	readonly env: Readonly<Record<string, string | undefined>>;
}

/** Everything that one connection needs to know. */
export interface HostSettings {
	/** As the user wrote it, for messages. */
	readonly alias: string;
	readonly hostname: string;
	readonly port: number;
	readonly user: string;
	/** Private keys, in the order in which they are tried. */
	readonly identityFiles: readonly string[];
	/** Keys of the agent that are not among these files are not tried. */
	readonly identitiesOnly: boolean;
	/** Socket of the agent; null: none. */
	readonly agent: string | null;
	/** Hosts to pass through, the first one first. */
	readonly jumps: readonly Destination[];
	/** Names under which the host's keys may be on record. New ones are written under the first. */
	readonly keyNames: readonly [string, ...string[]];
	/** The user's files; new keys go into the first. */
	readonly knownHostsFiles: readonly string[];
	/** The system's files. */
	readonly globalKnownHostsFiles: readonly string[];
	/** Names in new lines are hidden. */
	readonly hashKnownHosts: boolean;
	/** A host without a key on record is taken as it is, once. A changed key never is. */
	readonly acceptNew: boolean;
	/** Milliseconds until a connection stands. */
	readonly connectTimeoutMs: number;
	/** Milliseconds of silence after which we ask whether the host is still there. */
	readonly aliveIntervalMs: number;
	/** Unanswered questions after which it is not. */
	readonly aliveCountMax: number;
}

/** The files that ssh tries when nothing else is said. */
const DEFAULT_KEYS = ["id_rsa", "id_ecdsa", "id_ed25519"];

/** Settings that would be wrong to pass over. */
const REFUSED: readonly (readonly [string, string])[] = [
	["proxycommand", "ProxyCommand"],
	["revokedhostkeys", "RevokedHostKeys"],
];

function isNone(values: readonly string[] | undefined): boolean {
	return values === undefined || values[0]?.toLowerCase() === "none";
}

function isYes(found: Found, keyword: string): boolean {
	return /^(yes|true)$/i.test(found.get(keyword)?.[0] ?? "");
}

/** A count that is set and not zero: zero would mean to wait for ever. */
function countOf(found: Found, keyword: string, otherwise: number): number {
	return Number(/^[1-9]\d{0,5}$/.exec(found.get(keyword)?.[0] ?? "")?.[0] ?? otherwise);
}

function agentOf(found: Found, { env }: Person, path: (text: string) => string): string | null {
	const set = found.get("identityagent")?.[0];
	if (set?.toLowerCase() === "none") return null;
	const variable =
		set === undefined || set === "SSH_AUTH_SOCK" ? "SSH_AUTH_SOCK" : /^\$(\w+)$/.exec(set)?.[1];
	return (variable === undefined ? path(set!) : env[variable]) || null;
}

/** Of ProxyJump and ProxyCommand, the one that is set first counts. */
function jumpsOf(found: Found): readonly Destination[] {
	const first = [...found.keys()].find((keyword) => keyword === "proxyjump" || keyword === "proxycommand");
	const values = found.get("proxyjump");
	if (first !== "proxyjump" || values === undefined || isNone(values)) return [];
	return values[0]!.split(",").map(parseDestination);
}

/**
 * The settings for one host.
 * @throws GymError exit `unreachable`, code `ssh-config-refused`, for what only the ssh program can do
 */
export function hostSettings(
	destination: Destination,
	entries: readonly Entry[],
	person: Person,
): HostSettings {
	const found = lookUp(entries, destination, person.name);
	const alias = destination.host;
	const jumps = jumpsOf(found);
	for (const [keyword, name] of REFUSED) {
		const beaten = keyword === "proxycommand" && jumps.length > 0;
		if (!beaten && !isNone(found.get(keyword))) throw needsSsh(alias, name);
	}
	const hostname = (found.get("hostname")?.[0] ?? alias).replaceAll("%h", alias).replaceAll("%%", "%");
	const port = destination.port ?? countOf(found, "port", 22);
	const user = destination.user ?? found.get("user")?.[0] ?? person.name;
	const keyAlias = found.get("hostkeyalias")?.[0];
	const tokens: Readonly<Record<string, string>> = {
		"%": "%",
		d: person.home,
		h: hostname,
		k: keyAlias ?? hostname,
		n: alias,
		p: String(port),
		r: user,
		u: person.name,
	};
	const path = (text: string): string =>
		text
			.replace(/^~(?=\/|$)/, person.home)
			.replace(/\$\{(\w+)\}/g, (whole, name: string) => person.env[name] ?? whole)
			.replace(/%(.)/g, (whole, token: string) => tokens[token] ?? whole);
	const files = (keyword: string, otherwise: readonly string[]): readonly string[] => {
		const set = found.get(keyword);
		if (set === undefined) return otherwise;
		return isNone(set) ? [] : set.map(path);
	};
	const inSsh = (name: string): string => join(person.home, ".ssh", name);
	return {
		alias,
		hostname,
		port,
		user,
		identityFiles: files("identityfile", DEFAULT_KEYS.map(inSsh)),
		identitiesOnly: isYes(found, "identitiesonly"),
		agent: agentOf(found, person, path),
		jumps,
		// ssh takes a key that is on record for the plain name too.
		keyNames: keyAlias
			? [keyAlias.toLowerCase()]
			: [nameOnRecord(hostname, port), ...(port === 22 ? [] : [nameOnRecord(hostname, 22)])],
		knownHostsFiles: files("userknownhostsfile", [inSsh("known_hosts"), inSsh("known_hosts2")]),
		globalKnownHostsFiles: files("globalknownhostsfile", [
			"/etc/ssh/ssh_known_hosts",
			"/etc/ssh/ssh_known_hosts2",
		]),
		hashKnownHosts: isYes(found, "hashknownhosts"),
		acceptNew: /^(accept-new|no|off|false)$/i.test(found.get("stricthostkeychecking")?.[0] ?? ""),
		connectTimeoutMs: countOf(found, "connecttimeout", 30) * 1000,
		aliveIntervalMs: countOf(found, "serveraliveinterval", 15) * 1000,
		aliveCountMax: countOf(found, "serveralivecountmax", 4),
	};
}

/**
 * The settings of every host on the way, the submit host last. A jump host's own jump hosts come before it;
 * of several jump hosts only the first is reached in its own way, as with ssh.
 * @throws GymError exit `unreachable`, code `ssh-config-refused`
 */
export function routeTo(
	destination: Destination,
	entries: readonly Entry[],
	person: Person,
	passed: readonly string[] = [],
): readonly HostSettings[] {
	const { host } = destination;
	const way = [...passed, host];
	if (passed.includes(host)) {
		const message = `${host}: the jump hosts of the ssh configuration lead in a circle: ${way.join(", ")}`;
		throw fail("unreachable", "ssh-config-refused", message, "let a jump host have no ProxyJump of its own");
	}
	const settings = hostSettings(destination, entries, person);
	const [first, ...rest] = settings.jumps;
	if (first === undefined) return [settings];
	const between = rest.map((jump) => hostSettings(jump, entries, person));
	return [...routeTo(first, entries, person, way), ...between, settings];
}
