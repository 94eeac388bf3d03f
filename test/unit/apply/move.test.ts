/** A stack that moves: what ended in the old place is known by then, what is live there holds it up. */
import { describe, expect, test } from "vitest";
import { leaveOldPlace } from "../../../src/apply/cluster-of.ts";
import type { Observation, RunQuery, Scheduler } from "../../../src/cluster/scheduler.ts";
import { fail } from "../../../src/errors.ts";
import type { ClusterRef, StateDocument } from "../../../state/document.ts";
import { problemOf } from "../cluster/transport-io.ts";
import { makeDesired, makeRun, makeSegment, makeState } from "../plan/runs.ts";

const desired = makeDesired("b");
const run = (id: string) =>
	makeRun(desired, { runDir: `/evals/${id}`, jobDir: `/evals/${id}/b`, segments: [makeSegment(id)] });
const OLD: ClusterRef = { type: "slurm", name: "lab", hostname: "north", outputPath: "/evals" };
const NEW: ClusterRef = { ...OLD, hostname: "south" };

const one: StateDocument = { ...makeState({ b: run("1") }), cluster: OLD };
const replaced: StateDocument = { ...makeState({ b: run("2") }, { b: [run("1")] }), cluster: OLD };

/** Clusters by host where these jobs have ended with 0, and all others of the runs asked for are running. */
function world(ended: readonly string[]) {
	const asked: (string | null)[] = [];
	const filesOf = ({ jobIds: [id] }: RunQuery) => ({
		exists: true,
		ends: new Map(ended.includes(id!) ? [[id!, "exit=0 why=finished at=4 name=\n"]] : []),
		chain: null,
		control: null,
		chainFiles: new Map(),
		recordedIds: [],
		expected: null,
		rollouts: null,
		rolloutsCut: false,
	});
	const observe = async (queries: readonly RunQuery[]): Promise<Observation> => ({
		at: 5,
		user: "alice",
		queue: queries
			.filter(({ jobIds: [id] }) => !ended.includes(id!))
			.map(({ jobIds: [jobId], jobDir: workDir }) => ({ jobId, workDir, state: "RUNNING" })) as never,
		accounting: null,
		preflight: null,
		runs: new Map(queries.map((query) => [query.jobDir, filesOf(query)])),
	});
	const connect = ({ hostname }: ClusterRef) => {
		asked.push(hostname);
		return { observe } as unknown as Scheduler;
	};
	return { asked, connect };
}

describe("a stack whose host changed", () => {
	test("leaves a run that is live there", async () => {
		const { asked, connect } = world([]);
		expect(await problemOf(leaveOldPlace(one, NEW, connect))).toMatchObject({
			exit: "refused",
			code: "cluster-changed",
			at: "compute.lab.hostname",
			message: "math/b is live on north, the document now says on south",
			remedy: expect.stringContaining("gym cancel math/b"),
		});
		expect(asked).toEqual(["north"]);
	});

	test("moves when the run has ended there by now, and knows how", async () => {
		const { connect } = world(["1"]);
		const { state, changed } = await leaveOldPlace(one, NEW, connect);
		expect(state.benchmarks.get("b")!.current).toMatchObject({ status: "succeeded" });
		expect(changed).toBe(true);
	});

	test("looks after a run that was to be replaced, too", async () => {
		expect(await problemOf(leaveOldPlace(replaced, NEW, world(["2"]).connect))).toMatchObject({
			code: "cluster-changed",
		});
		const { state } = await leaveOldPlace(replaced, NEW, world(["1", "2"]).connect);
		const { current, history } = state.benchmarks.get("b")!;
		expect([current!.status, ...history.map(({ status }) => status)]).toEqual(["succeeded", "succeeded"]);
	});

	test("is refused with the reason when the old place does not answer", async () => {
		const observe = async () => {
			throw fail("unreachable", "host-unreachable", "north: no route to host");
		};
		const silent = () => ({ observe }) as unknown as Scheduler;
		expect(await problemOf(leaveOldPlace(one, NEW, silent))).toMatchObject({
			exit: "refused",
			code: "cluster-changed",
			message: expect.stringMatching(/math\/b is live on north.*could not be asked: north: no route to host/),
		});
	});

	test("asks nobody when the state is to be taken at its word", async () => {
		expect(await problemOf(leaveOldPlace(one, NEW, () => null))).toMatchObject({ code: "cluster-changed" });
	});
});

describe("nothing is asked", () => {
	const settled = makeState({ b: { ...run("1"), status: "succeeded" } });
	test.each([
		["when the place is the same, by whatever output path", one, { ...OLD, outputPath: "/lake" }],
		["when nothing is live", { ...settled, cluster: OLD }, NEW],
		["when nothing was ever applied", makeState({}), NEW],
	])("%s", async (_, state, cluster) => {
		const { asked, connect } = world([]);
		expect(await leaveOldPlace(state, cluster, connect)).toEqual({ state, drift: [], changed: false });
		expect(asked).toEqual([]);
	});
});

test.each([
	["another output path of this machine", "/here", "/there", "job.output_path"],
	["Slurm from this machine's processes", "/here", null, "compute.lab.hostname"],
])("%s is another place", async (_, before, now, at) => {
	const local = (outputPath: string): ClusterRef => ({ ...OLD, type: "local", hostname: null, outputPath });
	const state = { ...one, cluster: local(before) };
	const cluster = now === null ? NEW : local(now);
	expect(await problemOf(leaveOldPlace(state, cluster, () => null))).toMatchObject({ at });
});
