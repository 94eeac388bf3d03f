/** The records of a submission, in the hands of the peer's own code. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withCurrent } from "../../src/apply/record.ts";
import { intentOf, submissionOf } from "../../src/apply/submission.ts";
import { writeRecord } from "../../src/cluster/local/submission-files.ts";
import type { Submission } from "../../src/cluster/scheduler.ts";
import { desiredJobs } from "../../src/plan/desired.ts";
import { toPlain } from "../../src/submit/emit.ts";
import { emptyState, type StateDocument } from "../../state/document.ts";
import { fakeSlurm } from "../unit/cluster/fake-slurm.ts";
import { submit } from "../unit/cluster/submit-run.ts";
import { tempFolder } from "../unit/cluster/transport-io.ts";
import { config, document, map, type Parts } from "../unit/job/document.ts";
import { asPeer, comparable, forPeer, type Tree } from "./documents.ts";
import { read } from "./peer.ts";

const BENCHMARKS = map({
	sums: map({ run: map({ split: "dev", key: "${oc.env:KEY}", ratio: 0.5, none: null, text: "007" }) }),
	refused: map({ run: map({ limit: 1.5 }), prepare: map({ paths: ["a", "b"] }) }),
});

/** A document below a folder. */
function parts(outputPath: string, policy: "speaker" | null): Parts {
	return {
		outputPath,
		compute: { hostname: "login.lab", forward_env: ["SCORES"] },
		service: { env: map({ TOKEN: "host:TOKEN", MODE: "lit:a b" }) },
		driver: { policy_model: policy, benchmarks: BENCHMARKS, env: map({ SCORES: "runtime:SCORES" }) },
	};
}

/** What apply asks a scheduler for. */
function submissionFor(wanted: Parts, outputPath: string): Submission {
	const resolved = config(wanted);
	const runDir = `${outputPath}/gym-job-20301130T134455Z-9f31c2`;
	const { desired } = desiredJobs(resolved, { stack: "lab", toolVersion: "1.2.3" });
	const state = desired.reduce<StateDocument>(
		(now, job) => withCurrent(now, job.benchmark, intentOf(job, runDir)),
		{ ...emptyState("lab"), cluster: { type: "slurm", name: "north", hostname: "login.lab", outputPath } },
	);
	const context = {
		toolVersion: "1.2.3",
		hostEnv: () => "s3cret",
		forward: new Map([["SCORES", "s3cret"]]),
		goOn: new Map(),
	};
	return submissionOf(resolved, state, desired, runDir, context);
}

const COMPLAINT = 'error: "é" \\ is no partition\nasked for by:\tlab';

/** A run directory that the submit exchange wrote; the benchmark `refused` has no job. */
async function submitted(policy: "speaker" | null) {
	const slurm = await fakeSlurm();
	await slurm.on("sbatch", `[[ $name != refused ]] || { printf '%s' '${COMPLAINT}' >&2; exit 1; }`);
	const wanted = parts(join(slurm.folder, "out"), policy);
	const submission = submissionFor(wanted, join(slurm.folder, "out"));
	await submit(slurm, submission);
	return { wanted, submission, file: (name: string) => readFile(join(submission.runDir, name), "utf8") };
}

/** A record as it is, for comparing with what the peer read: every field, and no other. */
const fields = (text: string) => JSON.parse(text) as Readonly<Record<string, unknown>>;

/** Plain objects of what a reader read. */
function plain(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(plain);
	if (!(value instanceof Map)) return value;
	return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
}

test("gym-job.json of a Slurm submission is a record of the peer, with nothing lost or added", async () => {
	const { submission, file } = await submitted("speaker");
	const text = await file("gym-job.json");
	const [answer] = read("record", [text]);
	expect(plain(answer)).toEqual({ record: fields(text), failed: ["refused"] });
	expect(fields(text)).toMatchObject({
		run_dir: submission.runDir,
		submitted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
		benchmarks: [
			{ benchmark: "sums", job_id: "101", error: null },
			{ benchmark: "refused", job_id: null, error: COMPLAINT },
		],
	});
});

test("gym-job.json of local jobs is a record of the peer, with nothing lost or added", async () => {
	const folder = await tempFolder();
	const submission = submissionFor(parts(folder, "speaker"), folder);
	await mkdir(submission.runDir);
	await writeRecord(submission, "jo", new Date(0), new Map([["sums", "7"]]));
	const text = await readFile(join(submission.runDir, "gym-job.json"), "utf8");
	const [answer] = read("record", [text]);
	expect(plain(answer)).toEqual({ record: fields(text), failed: ["refused"] });
});

test("resolved-config.yaml says what the peer resolves the document to, without values of host:", async () => {
	const { wanted, file } = await submitted("speaker");
	const text = await file("resolved-config.yaml");
	const [ours] = read("OmegaConf", [text]);
	const [theirs] = read("submit", [forPeer(document(wanted) as Tree)]);
	expect(comparable(asPeer(ours as Tree))).toBe(comparable(theirs as Tree));
	expect(text).not.toContain("s3cret");
});

// With one, the peer refuses its own resolved documents too: what it added to `run` is then given twice.
test("resolved-config.yaml without a policy model is a submit document that resolves to itself", async () => {
	const { wanted, file } = await submitted(null);
	const [ours] = read("OmegaConf", [await file("resolved-config.yaml")]);
	const [theirs] = read("submit", [forPeer(ours as Tree)]);
	expect(comparable(theirs as Tree)).toBe(comparable(asPeer(toPlain(config(wanted)))));
});
