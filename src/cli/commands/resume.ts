/** `gym resume`: goes on with runs that wait for a decision, in the same run directory and with their cache. */
import { EXIT, fail } from "../../errors.ts";
import { requireConsent } from "../consent.ts";
import { converse } from "../conversation.ts";
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
	return withIo(session, root, async (io) => {
		let code: number = EXIT.ok;
		for (const stack of stacks) {
			const resume = of(stack.name);
			if (resume.length === 0) continue;
			const choice = { replace: [], exclude: [], target: resume, resume };
			code = Math.max(code, await converse(session, stack, io, choice));
		}
		return code;
	});
}
