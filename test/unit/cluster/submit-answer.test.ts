import { expect, test } from "vitest";
import { parseSubmitAnswer } from "../../../src/cluster/slurm/submit-answer.ts";

const NOTICE = "sbatch: notice: no partition given, using batch";

test.each<readonly [string, string, string, string | null]>([
	["4711\n", "", "4711", null],
	["4711 \r\n", "", "4711", null],
	["4711", "", "4711", null],
	["123;alpha\n", "", "123", "alpha"],
	["123;alpha\r\n", "", "123", "alpha"],
	["Submitted batch job 39 on cluster c1\n", "", "39", "c1"],
	["Submitted batch job 39\n", "", "39", null],
	["sbatch: Submitted batch job 39 on cluster c1\n", "", "39", "c1"],
	["39\n", `${NOTICE}\n`, "39", null],
	[`${NOTICE}\n39\n`, "", "39", null],
	[`39\n${NOTICE}\n`, "", "39", null],
	[`${NOTICE}\nYou have 17 of 20 jobs left\n39;c1\n${NOTICE}\n`, "", "39", "c1"],
	["\x1b[32mSubmitted batch job 39\x1b[0m\n", "", "39", null],
	["-- budget: 12 GPU hours --\n\n   39   \n", "", "39", null],
	["", "Submitted batch job 39 on cluster c1\n", "39", "c1"],
	["2\nSubmitted batch job 39\n", "", "39", null],
])("%j (stderr %j) is job %s on %s", (stdout, stderr, jobId, cluster) => {
	expect(parseSubmitAnswer(stdout, stderr)).toEqual({ jobId, cluster });
});

test.each<readonly [string, string]>([
	["", ""],
	[
		"\n",
		"sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified\n",
	],
	["", "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n"],
	["", "4711\n"],
	["0\n", ""],
	["job 12 of 20 jobs\n", ""],
	["12 13\n", ""],
	[";c1\n", ""],
	["-5\n", ""],
])("%j (stderr %j) names no job", (stdout, stderr) => {
	expect(parseSubmitAnswer(stdout, stderr)).toBeNull();
});
