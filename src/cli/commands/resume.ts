/** `gym resume`: goes on with runs that wait for a decision, in the same run directory and with their cache. */
import { fail } from "../../errors.ts";
import { requireConsent } from "../consent.ts";
import { converse } from "../conversation.ts";
import { forEachStack } from "../each-stack.ts";
import { withIo } from "../process-io.ts";
import { loadValid, type Session } from "../session.ts";

export async function run(session: Session): Promise<number> {
	requireConsent(session);
	const { root, stacks } = await loadValid(session, []);
	const [only] = stacks;
	// The stack may be left out when there is only one.
	const addresses = session.args.map((one) =>
		one.includes("/") || stacks.length > 1 || !only ? one : `${only.name}/${one}`,
	);
	const of = (name: string) => addresses.filter((address) => address.startsWith(`${name}/`));
	const unknown = addresses.filter((address) => !stacks.some(({ name }) => address.startsWith(`${name}/`)));
	if (unknown.length > 0) {
		const names = stacks.map(({ name }) => name).join(", ");
		throw fail("invalid", "address-unknown", `no stack of ${unknown.join(", ")}`, `stacks: ${names}`);
	}
	const meant = stacks.filter(({ name }) => of(name).length > 0);
	return withIo(session, root, (io) =>
		forEachStack(meant, session, (stack) => {
			const resume = of(stack.name);
			return converse(session, stack, io, { replace: [], exclude: [], target: resume, resume });
		}),
	);
}
