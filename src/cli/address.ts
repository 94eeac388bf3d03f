/** Addresses on the command line: `<stack>/<benchmark>`. */
import type { ClusterRef, RunRecord } from "../../state/document.ts";
import type { StateStore } from "../../state/store.ts";
import { fail } from "../errors.ts";

/** A benchmark with its current run. */
export interface AddressedRun {
	readonly stack: string;
	readonly benchmark: string;
	readonly address: string;
	readonly run: RunRecord;
	readonly cluster: ClusterRef;
}

/**
 * The current run of an address; the stack may be left out when only one has a state.
 * @throws GymError exit `invalid`, code `address-unknown`
 */
export async function findRun(address: string, store: StateStore): Promise<AddressedRun> {
	const slash = address.indexOf("/");
	const benchmark = address.slice(slash + 1);
	const stacks = await store.stacks();
	const named = slash < 0 ? stacks : stacks.filter((name) => name === address.slice(0, slash));
	const [stack] = named;
	const state = stack !== undefined && named.length === 1 ? await store.read(stack) : null;
	const run = state?.benchmarks.get(benchmark)?.current;
	if (stack === undefined || !run || !state?.cluster) {
		throw fail(
			"invalid",
			"address-unknown",
			`nothing was submitted under ${address}`,
			"gym state list shows the addresses",
		);
	}
	return { stack, benchmark, address: `${stack}/${benchmark}`, run, cluster: state.cluster };
}
