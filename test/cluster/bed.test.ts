import { chown, mkdtemp, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { as, clusterInfo, freshOutputPath, jobs, on, timeoutJob, waitFor } from "../setup/cluster.ts";
import { describeCluster, runProgram, slurmCluster } from "../setup/slurm-cluster.ts";

/** Gives a file or folder to the cluster's user. */
async function give(path: string): Promise<string> {
	const { uid, gid } = await stat(clusterInfo().outputRoot);
	await chown(path, uid, gid);
	return path;
}

/** Submits a bash script that works in `folder`; its output goes to `folder/log`, errors apart. */
async function submit(folder: string, script: string, ...flags: readonly string[]): Promise<number> {
	await writeFile(join(folder, "job.sh"), `#!/bin/bash\n${script}\n`);
	const answer = await as(
		"sbatch",
		"--parsable",
		`--chdir=${folder}`,
		"--output=log",
		"--error=errors",
		...flags,
		join(folder, "job.sh"),
	);
	expect(answer).toMatchObject({ code: 0, stderr: "" });
	return Number(answer.stdout);
}

async function stateOf(folder: string): Promise<string | undefined> {
	return (await jobs(folder)).at(-1)?.state;
}

/** Waits until the last job of that folder has ended, and returns what it printed. */
async function outputOf(folder: string): Promise<string> {
	const state = await waitFor(async () => {
		const now = await stateOf(folder);
		return now !== undefined && !["PENDING", "RUNNING", "COMPLETING"].includes(now) && now;
	}, `the end of the job in ${folder}`);
	const log = await readFile(join(folder, "log"), "utf8");
	expect(state, await readFile(join(folder, "errors"), "utf8")).toBe("COMPLETED");
	return log;
}

/** Ids of living processes that carry the mark of that cluster, whoever started them. */
async function processesOf(run: string): Promise<readonly string[]> {
	const found: string[] = [];
	for (const pid of await readdir("/proc")) {
		if (!/^\d+$/.test(pid)) continue;
		const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
		if (environment.split("\0").includes(`TESTBED_RUN=${run}`)) found.push(pid);
	}
	return found;
}

describe("login", () => {
	test("ssh leads to the login node, as the user, with Slurm and the stubs on PATH", async () => {
		const { sshConfig, home, user } = clusterInfo();
		const script = "id -un; pwd; command -v sbatch vllm gym record >/dev/null && echo found; exit 7";
		const answer = await runProgram("ssh", ["-F", sshConfig, "login", script]);
		expect(answer).toEqual({ code: 7, stdout: `${user}\n${home}\nfound\n`, stderr: "" });
	});
});

describe("jobs", () => {
	test("run as the user, with steps on the nodes that Slurm names", async () => {
		const folder = await freshOutputPath();
		await submit(folder, "id -un; srun printenv SLURMD_NODENAME | sort", "--nodelist=node2,node3");
		expect(await outputOf(folder)).toBe(`${clusterInfo().user}\nnode2\nnode3\n`);
	});

	test("end as TIMEOUT, OUT_OF_MEMORY and NODE_FAIL when told", async () => {
		const folders = await Promise.all([freshOutputPath(), freshOutputPath(), freshOutputPath()]);
		const ids: number[] = [];
		for (const folder of folders)
			ids.push(await submit(folder, "sleep 600", "--no-requeue", "--nodelist=node4"));
		for (const folder of folders) {
			await waitFor(async () => (await stateOf(folder)) === "RUNNING", `the job in ${folder} to run`);
		}
		await timeoutJob(ids[0]!);
		await waitFor(async () => (await stateOf(folders[0]!)) === "TIMEOUT", "TIMEOUT");
		expect((await slurmCluster(clusterInfo().run, "oom", String(ids[1]))).code).toBe(0);
		await waitFor(async () => (await stateOf(folders[1]!)) === "OUT_OF_MEMORY", "OUT_OF_MEMORY");
		expect((await slurmCluster(clusterInfo().run, "node-stop", "node4")).code).toBe(0);
		await waitFor(async () => (await stateOf(folders[2]!)) === "NODE_FAIL", "NODE_FAIL", {
			timeoutMs: 90_000,
		});
		expect((await slurmCluster(clusterInfo().run, "node-start", "node4")).code).toBe(0);
		await waitFor(async () => {
			const { stdout } = await on("ctl", "sinfo", "-h", "-n", "node4", "-p", "batch", "-o", "%T");
			return stdout === "idle\n";
		}, "node4 to be back");
	});
});

describe("container steps", () => {
	test("accept the flags of Pyxis and are written down", async () => {
		const folder = await freshOutputPath();
		const flags =
			"--container-image=some/image:1 --no-container-mount-home --container-remap-root --container-name=n";
		const id = await submit(folder, `srun ${flags} --container-workdir=/usr pwd`);
		expect(await outputOf(folder)).toBe("/usr\n");
		const lines = (await readFile(join(clusterInfo().run, "log/container.log"), "utf8")).split("\n");
		const line = lines.find((candidate) => candidate.startsWith(`job=${id}\t`));
		expect(line?.split("\t")).toEqual(
			expect.arrayContaining([
				"container-image=some/image:1",
				"container-workdir=/usr",
				"container-name=n",
				"no-container-mount-home=1",
				"container-remap-root=1",
			]),
		);
	});

	test.runIf(clusterInfo().hasHiding)("see a run directory only where it is mounted", async () => {
		const folder = await freshOutputPath();
		const other = await freshOutputPath();
		await writeFile(join(folder, "mine"), "");
		await writeFile(join(other, "theirs"), "");
		const look = `bash -c 'pwd; ls ${folder} 2>&1 | grep -c mine; ls ${other} /models 2>&1 | grep -c theirs; true'`;
		const mounts = `${folder}:${folder},${other}:/models:ro`;
		await submit(
			folder,
			[
				look,
				`srun ${look}`,
				`srun --container-image=x ${look}`,
				`srun --container-image=x --container-mounts=${mounts} --container-workdir=${folder} ${look}`,
				`srun --container-image=x --container-mounts=${mounts} bash -c 'echo new >${folder}/new; touch /models/no'`,
				"exit 0",
			].join("\n"),
		);
		expect((await outputOf(folder)).trim().split("\n")).toEqual([
			...[folder, "1", "1"],
			...[folder, "1", "1"],
			...["/workspace", "0", "0"],
			...[folder, "1", "1"],
		]);
		expect(await readFile(join(folder, "new"), "utf8")).toBe("new\n");
		expect(await readdir(other)).toEqual(["theirs"]);
		await expect(stat("/models")).rejects.toThrow("ENOENT");
	});

	test.runIf(clusterInfo().hasHiding)(
		"fail when a mount's source or the working directory does not exist",
		async () => {
			const folder = await freshOutputPath();
			await submit(
				folder,
				`srun --container-image=x --container-mounts=/not/there:/a echo ran; echo $?
			srun --container-image=x --container-workdir=/not/there echo ran; echo $?`,
			);
			expect(await outputOf(folder)).toBe("1\n1\n");
		},
	);

	test("have the image's variables, unless the job's are asked for by name", async () => {
		const folder = await freshOutputPath();
		await submit(
			folder,
			`export HF_HOME=/of/the/job
			srun printenv HF_HOME
			srun --container-image=x printenv HF_HOME
			srun --container-image=x --container-env=OTHER,HF_HOME printenv HF_HOME
			unset HF_HOME
			srun --container-image=x --container-env=HF_HOME printenv HF_HOME`,
		);
		expect(await outputOf(folder)).toBe("/of/the/job\n/image/hf\n/of/the/job\n/image/hf\n");
	});
});

describe("stub programs", () => {
	test.runIf(clusterInfo().hasNetns)(
		"two models listen on the same port of two nodes, and each answers for itself",
		async () => {
			const folder = await freshOutputPath();
			const gate = await give(await mkdtemp(join(clusterInfo().home, "gate-")));
			await submit(
				folder,
				`export STUB_GATE=${gate}
			srun vllm serve stub/model --port 8000 &
			wait`,
				...["--nodes=2", "--ntasks=2", "--nodelist=node1,node2"],
			);
			await waitFor(async () => (await readdir(gate)).length === 2, "both models at the gate");
			await writeFile(join(gate, "open"), "");
			for (const node of ["node1", "node2"]) {
				const models = await waitFor(async () => {
					const answer = await as("curl", "-fsS", "--noproxy", "*", `http://${node}:8000/v1/models`);
					return answer.code === 0 && JSON.parse(answer.stdout);
				}, `the model on ${node}`);
				expect(models.data).toEqual([{ id: "stub/model", object: "model", owned_by: node }]);
			}
			await as("scancel", String((await jobs(folder))[0]?.id));
		},
	);

	test("a driver asks a model and leaves rollouts with rewards, and only the missing ones next time", async () => {
		const folder = await freshOutputPath();
		await writeFile(join(folder, "answers.json"), JSON.stringify({ capital: "Paris" }));
		const tasks = [
			{ prompt: "the capital?", expected: "Paris" },
			{ prompt: "the sum?", expected: "4" },
			{ reward: 0.5 },
		];
		await writeFile(join(folder, "tasks.jsonl"), tasks.map((task) => `${JSON.stringify(task)}\n`).join(""));
		await writeFile(join(folder, "rollouts.jsonl"), '{"_ng_task_index":2,"reward":0.25}\n');
		await give(join(folder, "rollouts.jsonl"));
		await submit(
			folder,
			`export STUB_GYM_TASKS=${folder}/tasks.jsonl STUB_ANSWERS=${folder}/answers.json
			srun --overlap vllm serve stub/model --port 8123 &
			until curl -fsS --noproxy '*' localhost:8123/health 2>/dev/null; do sleep 0.1; done
			srun --overlap gym eval run +output_jsonl_fpath=${folder}/rollouts.jsonl \\
				+policy_base_url=http://localhost:8123/v1 ++resume_from_cache=true
			exit $?`,
		);
		await outputOf(folder);
		const rows = (await readFile(join(folder, "rollouts.jsonl"), "utf8")).trim().split("\n");
		expect(rows.map((row) => JSON.parse(row)).map((row) => [row._ng_task_index, row.reward])).toEqual([
			[2, 0.25],
			[0, 1],
			[1, 0],
		]);
		const inputs = await readFile(join(folder, "rollouts_materialized_inputs.jsonl"), "utf8");
		expect(inputs.trim().split("\n")).toHaveLength(3);
	});

	test("record what they are given, byte by byte", async () => {
		const folder = await freshOutputPath();
		const target = join(folder, "record.json");
		const odd = ["a b", "'", '"', "$HOME", "", "two\nlines", "é"];
		const answer = await as("env", "-C", folder, `ODD=${odd.join("|")}`, "record", target, ...odd);
		expect(answer).toMatchObject({ code: 0, stderr: "" });
		const seen = JSON.parse(await readFile(target, "utf8"));
		expect(seen).toMatchObject({ program: "record", argv: ["record", target, ...odd], cwd: folder });
		expect(seen.env).toMatchObject({ ODD: odd.join("|"), USER: clusterInfo().user });
		expect(seen.env).not.toHaveProperty("LC_CTYPE");
		await as("bash", "-c", `record ${target} $'\\xff'`);
		expect(JSON.parse(await readFile(target, "utf8")).argv.at(-1)).toEqual({ base64: "/w==" });
	});
});

test("a second cluster runs side by side, and leaves nothing behind", async () => {
	const run = await mkdtemp(join(tmpdir(), "gymbed-"));
	try {
		const up = await slurmCluster(run, "up");
		expect(up.code, up.stderr).toBe(0);
		const second = await describeCluster(run);
		expect(second.sshPort).not.toBe(clusterInfo().sshPort);
		const job = "sleep 600 & setsid bash -c 'trap : TERM; while :; do sleep 1; done' & wait";
		expect((await slurmCluster(run, "as", second.user, "sbatch", "--wrap", job)).code).toBe(0);
		await waitFor(async () => {
			const { stdout } = await slurmCluster(run, "on", "ctl", "squeue", "-h", "-o", "%T");
			return stdout === "RUNNING\n";
		}, "the job of the second cluster to run");
		expect(await jobs(second.outputRoot)).toEqual([]);
		expect((await processesOf(run)).length).toBeGreaterThan(10);
	} finally {
		const down = await slurmCluster(run, "down");
		expect(down.code, down.stderr).toBe(0);
	}
	expect(await processesOf(run)).toEqual([]);
	await expect(stat(run)).rejects.toThrow("ENOENT");
	const mounts = await readFile("/proc/self/mountinfo", "utf8");
	expect(mounts).not.toContain(run);
	expect((await slurmCluster(clusterInfo().run, "status")).code).toBe(0);
}, 300_000);
