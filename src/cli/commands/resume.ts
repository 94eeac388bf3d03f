/** `gym resume`: goes on with runs that wait for a decision, in the same run directory and with their cache. */
import { fail } from "../../errors.ts";
import { addressMatcher } from "../../plan/address-match.ts";
import { wholePattern } from "../address.ts";
import { requireConsent } from "../consent.ts";
import { converse } from "../conversation.ts";
import { forEachStack } from "../each-stack.ts";
import { withIo } from "../process-io.ts";
import { loadValid, type Session } from "../session.ts";

export async function run(session: Session): Promise<number> {
	requireConsent(session);
	const resetCounters = session.options["reset-counters"] === true;
	const { root, stacks } = await loadValid(session, []);
	const names = stacks.map(({ name }) => name);
	const patterns = session.args.map((pattern) => wholePattern(pattern, names));
	const of = (name: string) => patterns.filter((pattern) => addressMatcher([pattern.split("/")[0]!])(name));
	const unknown = patterns.filter((pattern) => !names.some((name) => of(name).includes(pattern)));
	if (unknown.length > 0) {
		throw fail(
			"invalid",
			"address-unknown",
			`no stack of ${unknown.join(", ")}`,
			`stacks: ${names.join(", ")}`,
		);
	}
	const meant = stacks.filter(({ name }) => of(name).length > 0);
	return withIo(session, root, (io) =>
		forEachStack(meant, session, async (stack) => {
			const resume = of(stack.name);
			const choice = { replace: [], exclude: [], target: resume, resume, resetCounters };
			return (await converse(session, stack, io, choice)).code;
		}),
	);
}
