/** Cluster preflight: what the cluster will not run is refused by plan, at the user's own line. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { jobs } from "../setup/cluster.ts";
import { labDocument, type Project, project } from "./gym.ts";

const benchmarks = { one: { command: "true" }, two: { command: "true" } };

/** Problems of `gym plan -json` and its exit code. */
async function plan(one: Project) {
	const { code, stdout, text } = await one.gym(["plan", "-f", "lab.yaml", "-json"]);
	const events = stdout
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line) as Record<string, unknown>);
	return {
		code,
		text,
		problems: events.filter((event) => event.type === "diagnostic" && event.severity === "error"),
	};
}

/** The text of the line that a problem points at. */
async function lineOf(one: Project, problem: Record<string, unknown>): Promise<string> {
	const text = await readFile(join(one.folder, "lab.yaml"), "utf8");
	return text.split("\n")[(problem.line as number) - 1]!.trim();
}

it("refuses what no node can run, with numbers, lines and remedies", async () => {
	const one = await project();
	await one.write(
		labDocument({
			outputPath: one.outputPath,
			benchmarks,
			policy: { node_pool: "gpu" },
			compute: {
				account: "acc",
				node_pools: {
					gpu: { partition: "batch", gpus_per_node: 16 },
					more: { partition: "batch", gpus_per_node: 16, nodes: 4 },
				},
			},
		}),
	);
	const { code, text, problems } = await plan(one);
	expect(code, text).toBe(4);
	const found = new Map<unknown, readonly unknown[]>();
	for (const problem of problems) found.set(problem.code, [problem.message, await lineOf(one, problem)]);
	expect(
		[...found].map(([problem, rest]) => [problem, ...rest]),
		text,
	).toEqual([
		["account-unknown", "you may not use the account acc", "account: acc"],
		["nodes-above-limit", "the job needs 5 nodes, the partition batch has 4", "node_pools:"],
		[
			"gpus-above-node",
			"16 GPUs on a node, but those of the partition batch have at most 8",
			"gpus_per_node: 16",
		],
	]);
	const applied = await one.gym(["apply", "-f", "lab.yaml", "--auto-approve"]);
	expect(applied.code, applied.text).toBe(4);
	expect(await jobs(one.outputPath)).toEqual([]);
});

it("names the partition that was meant, and lets the corrected document pass", async () => {
	const one = await project();
	const wrong = { node_pools: { gpu: { partition: "batc", gpus_per_node: 8 } } };
	await one.write(labDocument({ outputPath: one.outputPath, benchmarks, compute: wrong }));
	const refused = await one.gym(["plan", "-f", "lab.yaml"]);
	expect(refused.code, refused.text).toBe(4);
	expect(refused.text).toContain('did you mean "batch"?');
	await one.write(labDocument({ outputPath: one.outputPath, benchmarks }));
	const fine = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
	expect(fine.code, fine.text).toBe(2);
});
