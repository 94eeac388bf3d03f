/** The text of a known_hosts file: what it says of a host's key, and the line for a new one. */
import { createHmac } from "node:crypto";
import { patternsHold } from "./pattern.ts";

/** One line that holds a key. */
export interface KnownHost {
	readonly marker: "revoked" | "cert-authority" | null;
	/** Patterns parted by commas, or one hashed name (`|1|salt|hash`). */
	readonly names: string;
	/** Kind of the key, e.g. `ssh-ed25519`. */
	readonly type: string;
	/** The public key as it travels. */
	readonly key: Buffer;
	/** Where it stands, for messages: `file:line`. */
	readonly place: string;
}

/** What the files say of a key that a host shows. */
export interface KeyVerdict {
	/** `changed`: other keys are on record for this host, this one is not. */
	readonly status: "known" | "new" | "changed" | "revoked";
	/** The line that says so; null for `new`. */
	readonly place: string | null;
}

/** The kind of a public key: its first field. Empty for bytes that are no key. */
export function keyType(key: Buffer): string {
	if (key.length < 4) return "";
	const length = key.readUInt32BE(0);
	return length > key.length - 4 ? "" : key.toString("latin1", 4, 4 + length);
}

/** The name under which the keys of a port are on record; lower case, as ssh writes it. */
export function nameOnRecord(host: string, port: number): string {
	return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
}

/**
 * All keys of one file. Lines that are no keys, of kinds unknown to us too, are passed over, as ssh does.
 * @param file its path, for messages
 */
export function parseKnownHosts(text: string, file: string): readonly KnownHost[] {
	return text.split("\n").flatMap((line, index) => {
		const words = line.trim().split(/[ \t]+/);
		const marker = words[0]!.startsWith("@") ? words.shift()!.slice(1) : null;
		if (marker !== null && marker !== "revoked" && marker !== "cert-authority") return [];
		const [names, type, base64] = words;
		if (!names || names.startsWith("#") || !type || !base64) return [];
		const key = Buffer.from(base64, "base64");
		if (keyType(key) !== type) return [];
		return [{ marker, names, type, key, place: `${file}:${index + 1}` }];
	});
}

function hashOf(name: string, salt: Buffer): string {
	return createHmac("sha1", salt).update(name).digest("base64");
}

/** Is this line about the host of that name? */
export function isAbout({ names }: KnownHost, name: string): boolean {
	const [, kind, salt, hash] = names.split("|");
	if (names.startsWith("|")) return kind === "1" && hashOf(name, Buffer.from(salt ?? "", "base64")) === hash;
	return patternsHold(names.toLowerCase().split(","), name);
}

/** What the files say of this key. A line that revokes it beats every other, whatever its place. */
export function verdictOn(known: readonly KnownHost[], name: string, key: Buffer): KeyVerdict {
	const about = known.filter((entry) => entry.marker !== "cert-authority" && isAbout(entry, name));
	const same = about.filter((entry) => entry.key.equals(key));
	const revoked = same.find((entry) => entry.marker === "revoked");
	if (revoked) return { status: "revoked", place: revoked.place };
	if (same.length > 0) return { status: "known", place: same[0]!.place };
	const other = about.find((entry) => entry.marker === null);
	return other ? { status: "changed", place: other.place } : { status: "new", place: null };
}

/** The kinds of the keys on record for a host, most wanted first. */
export function knownTypes(known: readonly KnownHost[], name: string): readonly string[] {
	return known.filter((entry) => entry.marker === null && isAbout(entry, name)).map((entry) => entry.type);
}

/**
 * The line, without its end, that puts a key on record.
 * @param salt 20 random bytes to hide the name; null writes it as it is
 */
export function lineFor(name: string, key: Buffer, salt: Buffer | null): string {
	const names = salt === null ? name : `|1|${salt.toString("base64")}|${hashOf(name, salt)}`;
	return `${names} ${keyType(key)} ${key.toString("base64")}`;
}
