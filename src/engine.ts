/**
 * The programmatic API: plan, apply, status, cancel and logs of one stack. Everything that reaches outside comes
 * in as `Io`; the command line is a thin layer over this.
 */
import { type ClusterRef, emptyState, type RunRecord } from "../state/document.ts";
import type { Lease } from "../state/store.ts";
import { ACTING, type ApplyEvents, type ApplyResult, applyActions, checkInterrupt } from "./apply/apply.ts";
import { clusterOf, leaveOldPlace } from "./apply/cluster-of.ts";
import { findUnknownRuns } from "./apply/find-runs.ts";
import { observeState } from "./apply/observe.ts";
import { forwardedValues, mountSources } from "./apply/submission.ts";
import { queriesFor } from "./chain/refresh.ts";
import type { Observation } from "./cluster/scheduler.ts";
import { GymError, type Problem } from "./errors.ts";
import type { Io, Stack } from "./io.ts";
import { addressMatcher } from "./plan/address-match.ts";
import { rivalRuns } from "./plan/adopt.ts";
import { decide } from "./plan/decide.ts";
import { desiredJobs, type PreparedPlan } from "./plan/desired.ts";
import { type Plan, type PlannedAction, QUEUEING } from "./plan/plan.ts";
import { checkCluster } from "./plan/preflight.ts";

export interface PlanOptions {
	/** Look at the cluster (default). False with `-refresh=false`. */
	readonly refresh: boolean;
	/** Which addresses, and which again. */
	readonly choice: Choice;
}

/** Address patterns of the command line. */
export interface Choice {
	/** Submit again although nothing changed. */
	readonly replace: readonly string[];
	/** Only these; empty means all. */
	readonly target: readonly string[];
	/** Not these. */
	readonly exclude: readonly string[];
	/** Go on with these runs, which wait for a decision. */
	readonly resume: readonly string[];
	/** What their chains have used up is forgotten. */
	readonly resetCounters: boolean;
}

/** A pattern that names nothing is a typo. */
function checkPatterns(choice: Choice, stack: string, addresses: readonly string[]): void {
	// A pattern may be about another stack of the same command.
	const concerns = (pattern: string) => addressMatcher([pattern.split("/")[0]!])(stack);
	const typed = [
		...choice.resume.map((pattern) => ({ pattern, said: pattern })),
		...(["replace", "target", "exclude"] as const).flatMap((option) =>
			choice[option]
				// What is resumed is also the target: nobody typed it twice.
				.filter((pattern) => !choice.resume.includes(pattern))
				.map((pattern) => ({ pattern, said: `-${option} ${pattern}` })),
		),
	];
	const problems = typed
		.filter(({ pattern }) => concerns(pattern) && !addresses.some(addressMatcher([pattern])))
		.map(({ said }) => ({
			code: "address-unknown",
			severity: "error" as const,
			at: "",
			message: `${said} names no benchmark`,
			remedy: `addresses: ${addresses.join(", ")}`,
		}));
	if (problems.length > 0) throw new GymError("invalid", problems);
}

/** The actions that the command line is about. */
function chosen(actions: readonly PlannedAction[], { target, exclude }: Choice): readonly PlannedAction[] {
	const [isTarget, isExcluded] = [addressMatcher(target), addressMatcher(exclude)];
	return actions.filter(({ address }) => (target.length === 0 || isTarget(address)) && !isExcluded(address));
}

/** Plans one stack. Takes no lock and changes nothing, unless `lease` is given: then it reads under that lock. */
export async function planStack(
	stack: Stack,
	io: Io,
	options: PlanOptions,
	lease?: Lease,
): Promise<PreparedPlan> {
	const { desired, problems } = desiredJobs(stack.config, {
		stack: stack.name,
		toolVersion: io.version,
		sources: stack.sources,
		lifecycle: stack.lifecycle,
	});
	const errors = problems.filter((problem) => problem.severity === "error");
	if (errors.length > 0) throw new GymError("refused", [...errors, ...stack.problems]);

	const cluster = clusterOf(stack);
	const before = lease ? await lease.read() : await io.store.read(stack.name);
	const known = [...stack.config.driver.benchmarks.keys(), ...(before?.benchmarks.keys() ?? [])];
	checkPatterns(
		options.choice,
		stack.name,
		[...new Set(known)].map((name) => `${stack.name}/${name}`),
	);
	// A look at this machine needs no network.
	const connect = (place: ClusterRef) =>
		options.refresh || place.type === "local" ? io.scheduler(place) : null;
	const left = await leaveOldPlace(before ?? emptyState(stack.name), cluster, connect);

	let observation: Observation | null = null;
	let label: string | null = null;
	let now: Pick<Plan, "state" | "drift" | "changed"> = { ...left, state: before && left.state };
	if (options.refresh) {
		const scheduler = io.scheduler(cluster);
		label = scheduler.label;
		const preflight = { outputPath: cluster.outputPath, mountSources: mountSources(stack.config) };
		const seen = await observeState(left.state, scheduler, preflight);
		observation = seen.observation;
		const { state } = seen;
		if (before) now = { state, drift: [...left.drift, ...seen.drift], changed: left.changed || seen.changed };
	}
	const user = observation?.user ?? null;
	const found = observation
		? await findUnknownRuns(stack.name, desired, now.state, io.scheduler(cluster), cluster, observation)
		: new Map();
	const all = decide(desired, now.state, {
		stack: stack.name,
		replace: options.choice.replace,
		resume: options.choice.resume,
		resetCounters: options.choice.resetCounters,
		found,
		user,
	});
	const actions = chosen(all, options.choice);
	const submits = actions.some(({ kind }) => QUEUEING.has(kind));
	const met =
		observation?.preflight && submits
			? checkCluster(observation.preflight, stack.config, label!, stack.sources)
			: [];
	return {
		stack: stack.name,
		cluster: `${cluster.name}${label ? ` (${label})` : ""}`,
		user,
		backend: io.store.label,
		lineage: now.state?.lineage ?? null,
		serial: now.state?.serial ?? 0,
		refreshed: options.refresh,
		actions,
		leftOut: all.length - actions.length,
		drift: now.drift,
		changed: now.changed,
		problems: [...stack.problems, ...problems, ...rivalRuns(stack.name, found, now.state), ...met],
		state: now.state,
		jobs: new Map(desired.map((one) => [one.benchmark, one])),
		found,
	};
}

/** Problems that keep a plan from being applied; the rest are warnings and notes. */
export function blocking(plan: Plan): readonly Problem[] {
	const refused = plan.actions.flatMap((action) => action.refused ?? []);
	return [...plan.problems.filter((problem) => problem.severity === "error"), ...refused];
}

export interface ApplyOptions {
	/** Seconds to wait for the lock. */
	readonly lockTimeout: number;
	readonly choice: Choice;
	/** Shows the plan and, unless there is nothing to do or something is refused, asks; false declines. */
	readonly confirm: (plan: PreparedPlan) => Promise<boolean>;
	readonly events: ApplyEvents;
}

/**
 * Applies one stack: lock, refresh, plan, confirm, carry out, record, unlock.
 * @throws GymError exit `refused` when the plan holds errors or refused actions, `declined`, `locked`, …
 */
export async function applyStack(stack: Stack, io: Io, options: ApplyOptions): Promise<ApplyResult> {
	const forward = forwardedValues(stack.config, io.hostEnv);
	const lease = await io.store.acquire(stack.name, "apply", { timeoutSeconds: options.lockTimeout });
	try {
		if (lease.tookOver) options.events.tookOver(lease.tookOver);
		const plan = await planStack(stack, io, { refresh: true, choice: options.choice }, lease);
		const blocked = blocking(plan);
		const work = plan.actions.filter(({ kind }) => ACTING.has(kind));
		const proceed = await options.confirm(plan);
		if (blocked.length > 0) throw new GymError("refused", blocked);
		if (work.length > 0 && !proceed) {
			checkInterrupt(io);
			throw new GymError("declined", {
				code: "declined",
				severity: "error",
				at: "",
				message: "not applied; nothing was changed",
			});
		}
		const cluster = clusterOf(stack);
		await io.scheduler(cluster).endFallen();
		const state = { ...(plan.state ?? emptyState(stack.name)), cluster };
		return await applyActions(stack, plan, state, { io, lease, forward, events: options.events });
	} finally {
		await lease.release();
	}
}

/** What one look says of a stack's runs. */
export interface StackStatus {
	/** When the cluster was looked at, its clock, epoch seconds; null when it was not. */
	readonly at: number | null;
	/** What runs its jobs; null before the first apply. */
	readonly type: "slurm" | "local" | null;
	readonly runs: readonly { readonly benchmark: string; readonly run: RunRecord }[];
}

/** One look at a stack's runs, from its state alone; takes no lock and writes nothing. */
export async function statusOf(
	stack: string,
	io: Io,
	options: {
		readonly refresh: boolean;
		/** Count what is new of the rollouts (default). */
		readonly rollouts?: boolean;
	},
): Promise<StackStatus> {
	const before = await io.store.read(stack);
	if (!before?.cluster) return { at: null, type: null, runs: [] };
	const queries = queriesFor(before);
	let at: number | null = null;
	let state = before;
	if (options.refresh && queries.length > 0) {
		const seen = await observeState(before, io.scheduler(before.cluster), null, options.rollouts);
		at = seen.observation.at;
		state = seen.state;
	}
	const runs = [...state.benchmarks].flatMap(([benchmark, { current }]) =>
		current ? [{ benchmark, run: current }] : [],
	);
	return { at, type: before.cluster.type, runs };
}
