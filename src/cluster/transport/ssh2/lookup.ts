/** What the configuration sets for one host: the first value of each keyword whose conditions hold. */
import { fail } from "../../../errors.ts";
import type { Entry, Section } from "./config-file.ts";
import type { Destination } from "./destination.ts";
import { patternsHold } from "./pattern.ts";

/** Keywords in lower case, in the order in which they were set. */
export type Found = ReadonlyMap<string, readonly string[]>;

/** Every line with this keyword counts, not only the first. */
const REPEATED = "identityfile";

/** The error for what only the ssh program can do. */
export function needsSsh(host: string, what: string) {
	return fail(
		"unreachable",
		"ssh-config-refused",
		`${host}: the ssh configuration has ${what}, which works with the ssh program only`,
		"install the OpenSSH client, or take it out of the configuration (GYMFILE_SSH_CONFIG names another one)",
	);
}

/**
 * @param localUser who runs this program; `Match user` means this one where nothing else is set
 * @throws GymError exit `unreachable`, code `ssh-config-refused`, for conditions that only ssh can look into
 */
export function lookUp(entries: readonly Entry[], destination: Destination, localUser: string): Found {
	const found = new Map<string, readonly string[]>();
	const { host } = destination;
	const subjects: Readonly<Record<string, () => string>> = {
		host: () => (found.get("hostname")?.[0] ?? host).replaceAll("%h", host).toLowerCase(),
		originalhost: () => host,
		user: () => destination.user ?? found.get("user")?.[0] ?? localUser,
		localuser: () => localUser,
	};
	const matches = (condition: readonly string[]): boolean => {
		const words = [...condition];
		for (let word = words.shift(); word !== undefined; word = words.shift()) {
			const no = word.startsWith("!");
			const name = word.replace("!", "").toLowerCase();
			let holds: boolean;
			if (name === "all") holds = true;
			// These hold in a second reading of the configuration, which a host without canonical names has not.
			else if (name === "canonical" || name === "final") holds = false;
			else if (subjects[name]) holds = patternsHold((words.shift() ?? "").split(","), subjects[name]());
			else throw needsSsh(host, `a condition \`Match ${name}\``);
			if (holds === no) return false;
		}
		return true;
	};
	const holds = ({ kind, condition }: Section): boolean =>
		kind === "include" || (kind === "host" ? patternsHold(condition, host) : matches(condition));
	const walk = (inner: readonly Entry[]): void => {
		for (const entry of inner) {
			if ("kind" in entry) {
				if (holds(entry)) walk(entry.entries);
			} else if (entry.keyword === REPEATED) {
				found.set(REPEATED, [...(found.get(REPEATED) ?? []), ...entry.values]);
			} else if (!found.has(entry.keyword)) {
				found.set(entry.keyword, entry.values);
			}
		}
	};
	walk(entries);
	return found;
}
