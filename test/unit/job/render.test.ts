import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { PLACEHOLDER_RUN_ID, renderJob } from "../../../src/job/render.ts";
import { secretReferences, secretsFile } from "../../../src/job/secrets.ts";
import { job, map, script } from "./document.ts";

const directives = (text: string) => text.split("\n").filter((line) => line.startsWith("#SBATCH "));
const hasShellcheck = spawnSync("shellcheck", ["--version"]).status === 0;

const SAMPLES = {
	plain: {},
	secrets: {
		service: {
			env: map({ A: "host:S", B: "runtime:live", C: "lit:it's" }),
			mounts: ["/a b:/c:ro"],
			pre_command: "x='",
		},
		driver: { env: map({ D: "host:S" }), gym_install: map({ ref: "v1" }), mounts: ["/d"] },
	},
	command: { benchmark: { command: "echo 'STEP\nSTEP\nCOMMAND\n'" } },
	"several nodes": {
		pools: new Map([
			["1", map({ partition: "b", nodes: 2 })],
			["0", map({ partition: "b" })],
		]),
		service: { node_pool: "0" },
		compute: { walltime: "04:00:00" },
	},
	"no services": { services: map({}) },
	"this machine": {
		local: true,
		service: { env: map({ A: "host:S", B: "runtime:live", C: "lit:it's" }), pre_command: "x='" },
		driver: { env: map({ D: "host:S" }) },
		benchmark: { command: "echo 'STEP\n'" },
		compute: { walltime: "10" },
	},
	"DOS line breaks": {
		service: { env: map({ A: "lit:a\r\nb" }), pre_command: "x='\r\n'" },
		benchmark: { command: "echo a\r\n" },
	},
};

describe.each(Object.entries(SAMPLES))("the script of %s", (_, parts) => {
	test("is bash", () => {
		execFileSync("bash", ["-n"], { input: script(parts) });
	});

	test("has no carriage return, for which sbatch would refuse it", () => {
		expect(script(parts)).not.toContain("\r");
	});

	test.runIf(hasShellcheck)("passes shellcheck", () => {
		const { stdout } = spawnSync("shellcheck", ["--format=gcc", "-"], {
			input: script(parts),
			encoding: "utf8",
		});
		expect(stdout).toBe("");
	});
});

describe("directives", () => {
	test("come first, ours and the user's, each once", () => {
		const text = script({
			compute: { walltime: "04:00:00", extra_args: map({ exclusive: true, qos: null, "mail-type": "END" }) },
		});
		expect(directives(text)).toEqual([
			"#SBATCH --job-name=gym-sums",
			"#SBATCH --chdir=/lake/evals/run-1/sums",
			"#SBATCH --account=lab-07",
			"#SBATCH --time=04:00:00",
			"#SBATCH --partition=batch",
			"#SBATCH --nodes=1",
			"#SBATCH --ntasks-per-node=1",
			"#SBATCH --gpus-per-node=4",
			"#SBATCH --output=logs/slurm-%j.log",
			"#SBATCH --open-mode=append",
			"#SBATCH --no-requeue",
			"#SBATCH --signal=B:USR1@120",
			"#SBATCH --exclusive",
			"#SBATCH --mail-type=END",
		]);
		expect(text.split("\n").slice(2, 16)).toEqual(directives(text));
	});

	test("a value with special characters is quoted for sbatch", () => {
		const text = script(
			{ compute: { extra_args: map({ comment: 'run #3 of "4" \\', "job-name": "see (1)" }) } },
			"/lake/my evals",
		);
		expect(directives(text)).toEqual(
			expect.arrayContaining([
				'#SBATCH --comment="run #3 of \\"4\\" \\\\"',
				'#SBATCH --job-name="see (1)"',
				'#SBATCH --chdir="/lake/my evals/sums"',
			]),
		);
		expect(text).not.toContain("--job-name=gym-sums");
	});

	test.each([
		[null, "120"],
		["1-00:00:00", "120"],
		["6", "60"],
		["1", undefined],
	])("walltime %s: the warning comes %s seconds before the end", (walltime, lead) => {
		const text = script({ compute: { walltime } });
		expect(/--signal=B:USR1@(\d+)/.exec(text)?.[1]).toBe(lead);
	});
});

describe("the script of a local job", () => {
	test("asks nothing of Slurm, containers or curl", () => {
		const text = script({ local: true });
		expect(directives(text)).toEqual([]);
		expect(text).not.toMatch(/\b(srun|scancel|squeue|scontrol|curl|container)\b/);
	});
});

describe("the script", () => {
	test("names the address and the version, and is for its owner alone", () => {
		const { files } = renderJob(job(), { runDir: "/r", toolVersion: "1.2.3" });
		expect(files.get("job.sh")!.mode).toBe(0o600);
		expect(files.get("job.sh")!.text).toContain("lab/sums, written by gymfile 1.2.3");
	});

	test("holds the run directory in two lines only", () => {
		const text = script({}, `/lake/${PLACEHOLDER_RUN_ID}`);
		expect(text.split("\n").filter((line) => line.includes(PLACEHOLDER_RUN_ID))).toHaveLength(2);
	});
});

describe("the secrets file", () => {
	const secret = () =>
		job({ service: { env: map({ T: "host:ONE" }) }, driver: { env: map({ T: "host:TWO", U: "lit:x" }) } });

	test("keys values by step and name", () => {
		expect(secretReferences(secret()).map(({ key, variable, at }) => [key, variable, at])).toEqual([
			["GYM_SECRET_SPEAKER__T", "ONE", "services.speaker.env.T"],
			["GYM_SECRET_DRIVER__T", "TWO", "driver.env.T"],
		]);
		expect(secretsFile(secret(), (name) => `it's ${name}`)).toBe(
			"GYM_SECRET_SPEAKER__T='it'\\''s ONE'\nGYM_SECRET_DRIVER__T='it'\\''s TWO'\n",
		);
	});

	test("takes what validation lets through: almost 128 KiB", () => {
		expect(secretsFile(secret(), () => "x".repeat(127 * 1024)).length).toBeGreaterThan(127 * 1024);
	});

	test("is empty without secrets", () => expect(secretsFile(job(), () => "x")).toBe(""));

	test("refuses what no variable can hold, without showing it", () => {
		const value = "s3cret".repeat(30_000);
		expect(() => secretsFile(secret(), () => value)).toThrow(/services\.speaker\.env\.T/);
		expect(() => secretsFile(secret(), () => value)).not.toThrow(/s3cret/);
	});
});
