/** Addresses on the command line: `<stack>/<benchmark>`. */
import type { RunRecord } from "../../state/document.ts";
import { fail } from "../errors.ts";
import type { Io, Stack } from "../io.ts";

/** A benchmark with its current run. */
export interface AddressedRun {
	readonly stack: Stack;
	readonly benchmark: string;
	readonly address: string;
	readonly run: RunRecord;
}

/**
 * The current run of an address; the stack may be left out when there is only one.
 * @throws GymError exit `invalid`, code `address-unknown`
 */
export async function findRun(address: string, stacks: readonly Stack[], io: Io): Promise<AddressedRun> {
	const slash = address.indexOf("/");
	const name = slash < 0 ? null : address.slice(0, slash);
	const benchmark = address.slice(slash + 1);
	const stack = name === null && stacks.length === 1 ? stacks[0] : stacks.find((one) => one.name === name);
	const state = stack && (await io.store.read(stack.name));
	const run = state?.benchmarks.get(benchmark)?.current;
	if (!stack || !run) {
		throw fail(
			"invalid",
			"address-unknown",
			`nothing was submitted under ${address}`,
			"gym status shows the addresses",
		);
	}
	return { stack, benchmark, address: `${stack.name}/${benchmark}`, run };
}
