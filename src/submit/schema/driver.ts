/** `driver` and its benchmarks. */
import * as z from "zod";
import { checked } from "./issue.ts";
import { asObject, env, freeMapping, mounts, named, struct } from "./mapping.ts";
import { count, duration, line, readSwitch, text } from "./scalar.ts";

const retries = z.strictObject({
	max_retries: count().default(3).describe("Resubmissions after failures that are not timeouts"),
	max_walltime: duration()
		.nullable()
		.default(null)
		.describe("Cap on the chain's total walltime; null: no cap"),
});

const resumable = z
	.preprocess((value) => readSwitch(asObject(value)), z.union([z.boolean(), retries]))
	.default(false)
	.describe("Go on in a new job after a timeout or failure");

const command = checked(text(), (script) =>
	script.trim() === ""
		? { code: "empty", message: "must not be empty", remedy: "leave the key out" }
		: undefined,
);

const benchmark = struct({
	prepare: freeMapping().describe("Overrides for gym eval prepare; empty: not run"),
	run: freeMapping().describe("Overrides for gym eval run"),
	command: command.nullable().default(null).describe("Shell script to run instead of gym eval run"),
	resumable,
});

/** Files of the run directory, beside which each benchmark has its folder. */
const FILES = [
	"gym-job.json",
	"resolved-config.yaml",
	"submitted-at",
	"submit.err",
	"submit.ids",
	"submit.lock",
];
const TAKEN = new Set([".", "..", "submit.said", ...FILES.flatMap((file) => [file, `${file}.new`])]);

/** Longest name that leaves room for what is added to it in file names. */
const LONGEST_NAME = 200;

const benchmarks = named(benchmark)
	.superRefine((entries, context) => {
		const refuse = (name: string, message: string, remedy: string) =>
			context.addIssue({ code: "custom", path: [name], message, params: { code: "benchmark-name", remedy } });
		if (entries.size === 0) {
			const params = { code: "no-benchmarks", remedy: "name at least one" };
			context.addIssue({ code: "custom", message: "there is no benchmark", params });
		}
		for (const name of entries.keys()) {
			const shown = JSON.stringify(name);
			if (TAKEN.has(name))
				refuse(name, `a benchmark cannot be called ${shown}`, "its folder would clash; rename it");
			else if (!/^[A-Za-z0-9._-]+$/.test(name))
				refuse(name, `bad benchmark name ${shown}`, "letters, digits and . _ - only");
			else if (name.length > LONGEST_NAME)
				refuse(name, "the benchmark name is too long", `at most ${LONGEST_NAME} characters`);
		}
	})
	.describe("What is run, by name: each is a job of its own");

/** The driver section. */
export const driver = struct({
	container: line().default("python:3.12").describe("Image the driver runs in"),
	gym_install: struct({
		repo: line().default("https://github.com/NVIDIA-NeMo/gym").describe("Git repository of Gym"),
		ref: line().describe("Tag or commit"),
	})
		.nullable()
		.default(null)
		.describe("Gym to install before the run; null: the image has it"),
	policy_model: line().nullable().default(null).describe("Service that is the model under evaluation"),
	policy_host: line().default("localhost").describe("Host in the policy's URL"),
	policy_model_type: text().default("openai_model").describe("--model-type of gym eval run; empty: none"),
	benchmarks,
	env: env(),
	mounts: mounts(),
}).describe("What runs the benchmarks against the services");
