/** Addresses on the command line: `<stack>/<benchmark>`, with the globs of `-target`. */
import type { ClusterRef, RunRecord } from "../../state/document.ts";
import type { StateStore } from "../../state/store.ts";
import { fail, GymError } from "../errors.ts";
import { addressMatcher } from "../plan/address-match.ts";

/** A benchmark with its current run. */
export interface AddressedRun {
	readonly stack: string;
	readonly benchmark: string;
	readonly address: string;
	readonly run: RunRecord;
	readonly cluster: ClusterRef;
}

/** Every current run that the states of the store know, stack by stack. */
async function allRuns(store: StateStore, stacks: readonly string[]): Promise<readonly AddressedRun[]> {
	const runs: AddressedRun[] = [];
	for (const stack of stacks) {
		const state = await store.read(stack);
		for (const [benchmark, { current }] of state?.benchmarks ?? []) {
			if (!current || !state?.cluster) continue;
			const address = `${stack}/${benchmark}`;
			runs.push({ stack, benchmark, address, run: current, cluster: state.cluster });
		}
	}
	return runs;
}

/** A pattern as one of whole addresses: where there is only one stack, its name may be left out. */
export function wholePattern(pattern: string, stacks: readonly string[]): string {
	const [only, ...more] = stacks;
	const isWhole = pattern.includes("/") || pattern === "*";
	return isWhole || only === undefined || more.length > 0 ? pattern : `${only}/${pattern}`;
}

/**
 * The current runs that the patterns name, each once, in the state's order.
 * @throws GymError exit `invalid`, code `address-unknown`, a problem for each pattern that names nothing
 */
export async function findRuns(
	patterns: readonly string[],
	store: StateStore,
): Promise<readonly AddressedRun[]> {
	const stacks = await store.stacks();
	const whole = patterns.map((pattern) => wholePattern(pattern, stacks));
	// A stack that no pattern can be about is not read: its state may be broken.
	const concerns = addressMatcher(whole.map((pattern) => pattern.split("/")[0]!));
	const runs = await allRuns(store, stacks.filter(concerns));
	const empty = patterns.filter((_, i) => !runs.some(({ address }) => addressMatcher([whole[i]!])(address)));
	if (empty.length > 0) {
		throw new GymError(
			"invalid",
			empty.map((pattern) => ({
				code: "address-unknown",
				severity: "error" as const,
				at: "",
				message: `nothing was submitted under ${pattern}`,
				remedy: "gym state list shows the addresses",
			})),
		);
	}
	const isMeant = addressMatcher(whole);
	return runs.filter(({ address }) => isMeant(address));
}

/** The one run that a pattern names. @throws GymError exit `invalid`, code `address-unknown`, also for several */
export async function findRun(pattern: string, store: StateStore): Promise<AddressedRun> {
	const [run, ...more] = await findRuns([pattern], store);
	if (run && more.length === 0) return run;
	const names = [run!, ...more].map(({ address }) => address).join(", ");
	throw fail("invalid", "address-unknown", `${pattern} names several runs`, `name one: ${names}`);
}
