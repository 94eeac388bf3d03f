import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jobState } from "../../src/cluster/job-state.ts";
import type { Observation } from "../../src/cluster/scheduler.ts";
import { accountingCommand, parseAccounting } from "../../src/cluster/slurm/accounting.ts";
import { LIMIT_COMMANDS, parseLimits } from "../../src/cluster/slurm/limits.ts";
import { parseQueue, queueCommand } from "../../src/cluster/slurm/queue.ts";
import { slurmScheduler } from "../../src/cluster/slurm/scheduler.ts";
import { opensshTransport } from "../../src/cluster/transport/openssh.ts";
import type { Transport } from "../../src/cluster/transport/transport.ts";
import { quote } from "../../src/job/script/quote.ts";
import { noPoints } from "../../src/points.ts";
import { formatDuration, parseDuration } from "../../src/submit/duration.ts";
import { clusterInfo, freshOutputPath, waitFor } from "../setup/cluster.ts";
import { transportIo } from "../unit/cluster/transport-io.ts";

let transport: Transport;
beforeAll(() => {
	transport = opensshTransport(
		{ hostname: "login", sshArgs: ["-F", clusterInfo().sshConfig] },
		transportIo(),
	);
});
afterAll(() => transport.close());

/** The script's stdout; it must succeed. */
async function ask(script: string): Promise<string> {
	const { code, stdout, stderr } = await transport.run("look", script);
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	return stdout;
}

/** Submits a held job that would run `text`, from a directory. */
async function submit(dir: string, text: string, ...flags: readonly string[]): Promise<string> {
	const command = `sbatch -H --parsable -o /dev/null --chdir=${quote(dir)} ${flags.join(" ")} <<<${quote(`#!/bin/bash\n${text}`)}`;
	return (await ask(command)).trim();
}

test("a job is read back from the real queue and accounting, whatever its directory is called", async () => {
	const dir = join(await freshOutputPath(), "a|b  ü,'x'");
	await mkdir(dir);
	const now = Number(await ask("date +%s"));
	const [held, failed] = [await submit(dir, "exit 0"), await submit(dir, "exit 3")];
	const queue = async () => parseQueue(await ask(queueCommand()), 0).filter((row) => row.workDir === dir);

	const first = (await queue()).find((row) => row.jobId === held);
	expect(first).toMatchObject({
		user: clusterInfo().user,
		elapsed: 0,
		startsAt: null,
		nodeList: null,
	});
	expect(first!.submittedAt! - now).toBeGreaterThanOrEqual(0);
	expect(jobState(first!.state, first!.reason).status).toBe("held");

	await ask(`scancel ${held}; scontrol release ${failed}`);
	// The accounting may hear of a quick end before it hears of the submit: then it has no directory yet.
	const rows = await waitFor(async () => {
		const found = parseAccounting(await ask(accountingCommand(`${held},${failed}`)), 0);
		return found.length === 2 && found.every((row) => jobState(row.state).final && row.workDir) && found;
	}, "both jobs to be whole in the accounting");
	const [cancelled, ended] = rows;
	expect(cancelled).toMatchObject({
		jobId: held,
		state: "CANCELLED",
		cluster: "testbed",
		workDir: dir,
		nodeList: null,
	});
	expect(cancelled!.cancelledBy).toMatch(/^\d+$/);
	expect(ended).toMatchObject({ jobId: failed, state: "FAILED", exitCode: 3, signal: null, workDir: dir });
	expect(ended!.submittedAt).toBe((await queue()).find((row) => row.jobId === failed)!.submittedAt);
	expect(ended!.endedAt! - ended!.startedAt!).toBe(ended!.elapsed);
});

test("a cluster that sbatch named is asked by its name", async () => {
	const runDir = await freshOutputPath();
	const jobDir = `${runDir}/gsm8k`;
	await mkdir(jobDir);
	const id = await submit(jobDir, "exit 0");
	const look = () =>
		slurmScheduler(transport, noPoints).observe([{ jobDir, runDir, jobIds: [id], rolloutsOffset: 0 }], {
			outputPath: runDir,
			mountSources: [],
		});
	const rows = (queue: Observation["queue"]) =>
		queue?.filter((row) => row.workDir === jobDir).map((row) => row.jobId);

	await writeFile(`${runDir}/submit.ids`, `gsm8k\t${id}\ttestbed\n`);
	const { queue, accounting, preflight } = await waitFor(async () => {
		const seen = await look();
		return seen.accounting?.some((row) => row.workDir === jobDir) && seen;
	}, "the accounting to know the job");
	expect(rows(queue)).toEqual([id, id]);
	expect(accounting).toContainEqual(expect.objectContaining({ jobId: id, cluster: "testbed" }));
	expect(preflight?.limits?.settings).toMatchObject({ clusterName: "testbed" });

	await writeFile(`${runDir}/submit.ids`, `gsm8k\t${id}\tnowhere\n`);
	const silent = await look();
	await ask(`scancel ${id}`);
	expect(silent.queue).toBeNull();
});

test("filters in the user's environment hide nothing", async () => {
	const dir = await freshOutputPath();
	const id = await submit(dir, "exit 0");
	const filters =
		"export SQUEUE_PARTITION=gpu SQUEUE_STATES=R SQUEUE_NAMES=x SQUEUE_ACCOUNT=x SQUEUE_FORMAT=%i";
	const rows = parseQueue(await ask(`${filters}; ${queueCommand()}`), 0);
	await ask(`scancel ${id}`);
	expect(rows.map((row) => row.jobId)).toContain(id);
});

test("Slurm reads durations as we do", async () => {
	const dir = await freshOutputPath();
	const texts = [
		"90",
		"90:00",
		"48:00",
		"1:2:00",
		"0:90:00",
		"3-0",
		"3-00",
		"3-0:00",
		"1-2:03",
		"1-2:3:00",
		"UNLIMITED",
		"infinite",
		"-1",
	];
	const ids: string[] = [];
	for (const text of texts) ids.push(await submit(dir, "exit 0", `--time=${text}`));
	const limits = (await ask(`squeue -h -j ${ids.join(",")} -S i -o %l; scancel ${ids.join(" ")}`))
		.trim()
		.split("\n");
	expect(limits.map((limit) => formatDuration(parseDuration(limit)!))).toEqual(
		texts.map((text) => formatDuration(parseDuration(text)!)),
	);
});

test("limits are read from the real cluster, as an ordinary user", async () => {
	const answers = new Map<string, string>();
	for (const [name, command] of Object.entries(LIMIT_COMMANDS)) answers.set(name, await ask(command));
	const limits = parseLimits((name) => answers.get(name));
	expect(limits.partitions!.find((partition) => partition.isDefault)).toMatchObject({
		name: "batch",
		state: "UP",
		totalNodes: 4,
		accounts: null,
		qos: null,
	});
	const nodes = limits.nodes!.filter((node) => node.partition === "gpu");
	expect(nodes.map((node) => [node.node, node.gpus])).toEqual([1, 2, 3, 4].map((n) => [`node${n}`, 8]));
	expect(limits.associations).toMatchObject([{ cluster: "testbed", account: "acct", qos: ["normal"] }]);
	expect(limits.qos!.map((qos) => qos.name)).toContain("normal");
	expect(limits.settings).toEqual({ clusterName: "testbed", enforced: ["associations", "limits"] });
});
