/** Where a connection goes, as people write it. */

/** A host and how to enter it, as far as it was said. */
export interface Destination {
	/** A name, an alias of the configuration, or an address. */
	readonly host: string;
	/** Null: the configuration says. */
	readonly user: string | null;
	readonly port: number | null;
}

/** Reads `host`, `user@host`, `user@host:port`, `[address]:port` and the same after `ssh://`. */
export function parseDestination(text: string): Destination {
	const plain = text.trim().replace(/^ssh:\/\/([^/]*)\/?$/, "$1");
	const at = plain.lastIndexOf("@");
	const user = at < 0 ? null : plain.slice(0, at);
	const rest = plain.slice(at + 1);
	const [, bracketed, named, port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(rest) ?? [];
	// Something with more colons is an address of its own.
	return { host: bracketed ?? named ?? rest, user, port: port === undefined ? null : Number(port) };
}
