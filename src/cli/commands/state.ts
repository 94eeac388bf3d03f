/** `gym state list | show | rm | unlock`: looks into the state, forgets an address, removes a lock that nobody holds any more. */
import { serializeState } from "../../../state/schema.ts";
import { EXIT, fail } from "../../errors.ts";
import { findRun } from "../address.ts";
import { stateStore } from "../process-io.ts";
import type { Session } from "../session.ts";
import { stateRoot } from "../state-stacks.ts";
import { wrap } from "../views/layout.ts";

export async function run(session: Session): Promise<number> {
	const [action, ...rest] = session.args;
	const store = stateStore(session, await stateRoot(session));
	// With -json, stdout is for data only.
	const tell = session.options.json === true ? session.err : session.out;
	switch (action) {
		case "list": {
			const addresses: string[] = [];
			for (const stack of await store.stacks()) {
				const state = await store.read(stack);
				for (const [benchmark, { current }] of state?.benchmarks ?? []) {
					if (current) addresses.push(`${stack}/${benchmark}`);
				}
			}
			const json = session.options.json === true;
			session.out(json ? `${JSON.stringify(addresses)}\n` : addresses.map((one) => `${one}\n`).join(""));
			return EXIT.ok;
		}
		case "show": {
			if (rest[0] === undefined) {
				throw fail(
					"invalid",
					"bad-flags",
					"state show needs STACK or ADDRESS",
					"gym state list shows what there is",
				);
			}
			const [stack = "", benchmark] = rest[0].split("/");
			const state = await store.read(stack);
			if (!state)
				throw fail(
					"invalid",
					"stack-unknown",
					`no state of a stack "${stack}"`,
					"gym state list shows what there is",
				);
			const record = benchmark === undefined ? null : state.benchmarks.get(benchmark);
			if (record === undefined) {
				throw fail(
					"invalid",
					"address-unknown",
					`no ${rest[0]} in the state`,
					"gym state list shows what there is",
				);
			}
			session.out(record ? `${JSON.stringify(record, null, 1)}\n` : serializeState(state));
			return EXIT.ok;
		}
		case "rm": {
			if (rest[0] === undefined) {
				throw fail("invalid", "bad-flags", "state rm needs an ADDRESS", "gym state list shows what there is");
			}
			const { stack, benchmark, address } = await findRun(rest[0], store);
			const lease = await store.acquire(stack, "state rm", { timeoutSeconds: 0 });
			try {
				const state = (await lease.read())!;
				const benchmarks = new Map(state.benchmarks);
				benchmarks.delete(benchmark);
				await lease.write({ ...state, benchmarks }, "removed");
			} finally {
				await lease.release();
			}
			const again =
				"The next plan finds the run again while it is live, or while the gymfile still says the same job.";
			const said = `Forgot ${address}. Its jobs and its files stay as they are. ${again}`;
			tell(`${wrap(said, "  ").join("\n")}\n`);
			return EXIT.ok;
		}
		case "unlock": {
			const [stack, id] = rest;
			if (!stack || !id)
				throw fail(
					"invalid",
					"bad-flags",
					"state unlock needs STACK and ID",
					"the message about the lock names both",
				);
			await store.unlock(stack, id);
			tell(`Unlocked ${stack}.\n`);
			return EXIT.ok;
		}
		default:
			throw fail(
				"invalid",
				"bad-flags",
				`state ${action ?? ""} is unknown`,
				"state list | show STACK or ADDRESS | rm ADDRESS | unlock STACK ID",
			);
	}
}
