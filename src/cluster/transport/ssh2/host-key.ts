/** Decides about the key that a host shows. Never laxer than `accept-new`. */
import { createHash, randomBytes } from "node:crypto";
import type { GymError } from "../../../errors.ts";
import { ssh2Failure } from "./failure.ts";
import { type KnownHost, keyType, knownTypes, lineFor, verdictOn } from "./known-hosts.ts";
import { addKnownHost, readKnownHosts } from "./known-hosts-file.ts";
import type { HostSettings } from "./settings.ts";

/** Signatures that we take from a host, by the kind of its key; the most wanted first, none with SHA-1. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
	"ssh-ed25519": ["ssh-ed25519"],
	"ecdsa-sha2-nistp256": ["ecdsa-sha2-nistp256"],
	"ecdsa-sha2-nistp384": ["ecdsa-sha2-nistp384"],
	"ecdsa-sha2-nistp521": ["ecdsa-sha2-nistp521"],
	"ssh-rsa": ["rsa-sha2-512", "rsa-sha2-256"],
};

/** The check of one host's key. */
export interface HostKeyCheck {
	/** What to ask the host for: a key of a kind that is on record comes first, else it would look changed. */
	readonly algorithms: readonly string[];
	/** Null when the key is good. */
	refusal(key: Buffer): GymError | null;
	/** Puts a new key that was taken on record. To be called when the host has proved that it owns it. */
	remember(): Promise<void>;
}

/** A key's fingerprint as ssh shows it. */
export function fingerprint(key: Buffer): string {
	return `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
}

function judge(settings: HostSettings, known: readonly KnownHost[], key: Buffer): GymError | "new" | "known" {
	const { alias, keyNames, knownHostsFiles, acceptNew } = settings;
	const [name, ...plain] = keyNames;
	const verdict = verdictOn(known, name, key);
	const elsewhere = plain.map((other) => verdictOn(known, other, key));
	const shown = `${keyType(key)} ${fingerprint(key)}`;
	const revoked = [verdict, ...elsewhere].find(({ status }) => status === "revoked");
	if (revoked) {
		const remedy = "do not log in there; ask the site for its new key";
		return ssh2Failure(alias, "host-key-changed", `REVOKED HOST KEY ${shown}, ${revoked.place}`, remedy);
	}
	if (verdict.status === "known") return "known";
	// As with ssh, other names speak only where the first one has no key on record.
	if (verdict.status === "new" && elsewhere.some(({ status }) => status === "known")) return "known";
	if (verdict.status === "changed") {
		const remedy = `ask the site whether the key was changed; if it was, remove the old one (${verdict.place}) and compare the new one: ${shown}`;
		return ssh2Failure(
			alias,
			"host-key-changed",
			`it shows ${shown}, not the key in ${verdict.place}`,
			remedy,
		);
	}
	if (acceptNew) return "new";
	const file = knownHostsFiles[0] ?? "a file that UserKnownHostsFile names";
	const remedy = `compare the fingerprint with the one that the site tells you, and if it is the same add this line to ${file}: ${lineFor(name, key, null)}`;
	return ssh2Failure(alias, "host-key-unknown", `it shows ${shown}`, remedy);
}

/** Reads what is on record for a host. */
export async function hostKeyCheck(settings: HostSettings): Promise<HostKeyCheck> {
	const { keyNames, knownHostsFiles, globalKnownHostsFiles, hashKnownHosts } = settings;
	const known = await readKnownHosts([...knownHostsFiles, ...globalKnownHostsFiles]);
	const types = new Set([...keyNames.flatMap((name) => knownTypes(known, name)), ...Object.keys(ALGORITHMS)]);
	let taken: Buffer | null = null;
	return {
		algorithms: [...types].flatMap((type) => ALGORITHMS[type] ?? []),
		refusal(key) {
			// The host shows its key again whenever the session gets new ciphers.
			if (taken?.equals(key)) return null;
			const judgement = judge(settings, known, key);
			if (judgement === "new") taken = key;
			return typeof judgement === "string" ? null : judgement;
		},
		async remember() {
			const [file] = knownHostsFiles;
			if (taken === null || file === undefined) return;
			const line = lineFor(keyNames[0], taken, hashKnownHosts ? randomBytes(20) : null);
			// As with ssh, a file that cannot be written to does not keep anyone out.
			await addKnownHost(file, line).catch(() => undefined);
		},
	};
}
