/** What ssh's own words mean, and what a person can do about it. */
import { fail, type GymError } from "../../errors.ts";
import { lastWords } from "./envelope.ts";

/** Where to go. */
export interface OpensshHost {
	/** As the user wrote it: a name, an alias of the ssh configuration, `user@name`. */
	readonly hostname: string;
	/** More arguments for every ssh call, e.g. `["-F", "/path/of/config"]`. */
	readonly sshArgs: readonly string[];
}

/**
 * Where a master connection that the user opened by hand is looked for, besides the ControlPath of the
 * user's own configuration. ssh itself fills in both marks.
 */
export const HAND_MADE_PATH = "~/.ssh/gymfile-%C";

/** The command that opens a master connection by hand, for hosts that ask for more than a key. */
export function masterCommand({ hostname, sshArgs }: OpensshHost): string {
	return [
		"ssh",
		...sshArgs,
		"-M",
		"-N",
		"-f",
		"-o",
		"ControlPersist=yes",
		"-S",
		HAND_MADE_PATH,
		hostname,
	].join(" ");
}

/** What is wrong, by the code of the error; whichever way the host was tried. */
export const FAILURES = {
	"host-key-changed": "its host key is not the one that is on record, so this may be another machine",
	"host-key-unknown": "its host key is not known here yet, and there is nobody to ask",
	"auth-failed": "it did not let us in",
	"host-unreachable": "cannot be reached",
} as const;

interface Kind {
	readonly code: keyof typeof FAILURES;
	readonly words: RegExp;
	readonly remedy: string;
}

function kinds(hostname: string, master: string): readonly Kind[] {
	return [
		{
			code: "host-key-changed",
			words: /HOST IDENTIFICATION HAS CHANGED|REVOKED HOST KEY|host key for .* has changed/i,
			remedy: `ask the site whether the key was changed; if it was, remove the old one (ssh-keygen -R) and log in once by hand: ssh ${hostname}`,
		},
		{
			code: "host-key-unknown",
			words: /Host key verification failed|No \S+ host key is known/i,
			remedy: `log in once by hand and compare the fingerprint: ssh ${hostname}`,
		},
		{
			code: "auth-failed",
			words: /Permission denied|Too many authentication failures|No supported authentication methods/i,
			remedy: `load your key (ssh-add), or, if it asks for a password or a second factor, open a connection by hand that we then use: ${master}`,
		},
	];
}

/** Do ssh's words tell of a connection that stood and then broke? Then the script may be there, unheard. */
export function droppedLater(stderr: Buffer): boolean {
	return /closed by remote host|client_loop:|Timeout, server|Shared connection|Broken pipe/.test(
		stderr.toString(),
	);
}

/** The error for an ssh that ended before the script started: with ssh's words, and a remedy. */
export function sshFailure(stderr: Buffer, host: OpensshHost): GymError {
	const { hostname, sshArgs } = host;
	const text = stderr.toString();
	const words = lastWords(stderr);
	const said = words ? ` (ssh: ${words})` : "";
	const kind = kinds(hostname, masterCommand(host)).find((candidate) => candidate.words.test(text));
	if (kind) return fail("unreachable", kind.code, `${hostname}: ${FAILURES[kind.code]}${said}`, kind.remedy);
	return fail(
		"unreachable",
		"host-unreachable",
		`${hostname}: ${FAILURES["host-unreachable"]}${said}`,
		`check the name and the network; this must work: ssh ${[...sshArgs, hostname].join(" ")} true`,
	);
}
