/** What people and clusters get wrong: each a clear error with its exit code, and nothing half-done. */
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { as, clusterInfo, jobs, on, waitFor } from "../setup/cluster.ts";
import { runProgram } from "../setup/slurm-cluster.ts";
import { CLI, type GymResult, labDocument, type Project, project, startGym } from "./gym.ts";
import { liveJobs, runDirs } from "./runs.ts";
import { gateSbatch, refuseBenchmark } from "./sbatch-wrapper.ts";

const APPLY = ["apply", "-f", "lab.yaml", "--auto-approve"];
const SLEEP = { command: "sleep 300" };

/** Jobs of the project are cancelled after the test. */
function endJobs(one: Project): void {
	onTestFinished(async () => {
		const ids = [...(await liveJobs(one)).values()].flat();
		if (ids.length > 0) await as("scancel", ...ids);
	});
}

/** Everything that a failed command must leave as it is. */
async function world(one: Project) {
	const folder = join(one.folder, ".gym/lab");
	const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith("state."));
	const texts = await Promise.all(names.sort().map((name) => readFile(join(folder, name), "utf8")));
	return {
		state: texts.map((text, index) => [names[index], text]),
		runDirs: await runDirs(one),
		jobs: (await jobs(`${one.outputPath}/`)).map(({ id }) => id),
		locked: await lockHolder(one),
	};
}

/** The newest entry of the lock: "free" or who holds it. */
async function lockHolder(one: Project): Promise<string> {
	const folder = join(one.folder, ".gym/lab");
	const names = (await readdir(folder).catch(() => [])).filter((name) => /^lock\.\d+/.test(name));
	const newest = names.sort((a, b) => Number(b.split(".")[1]) - Number(a.split(".")[1]))[0];
	if (newest === undefined) return "free";
	const { holder } = JSON.parse(await readFile(join(folder, newest), "utf8"));
	return holder === null ? "free" : holder.operation;
}

/** A project with one waiting job, whose document names a second benchmark that was not applied yet. */
async function applied(): Promise<{ one: Project; document: ReturnType<typeof labDocument> }> {
	const one = await project();
	endJobs(one);
	const later = { outputPath: one.outputPath, compute: { extra_args: { begin: "now+1hour" } } };
	await one.write(labDocument({ ...later, benchmarks: { first: SLEEP } }));
	const result = await one.gym(APPLY);
	expect(result.code, result.text).toBe(0);
	const document = labDocument({ ...later, benchmarks: { first: SLEEP, second: SLEEP } });
	await one.write(document);
	return { one, document };
}

function expectError(result: GymResult, code: number, ...words: readonly string[]): void {
	expect(result.code, result.text).toBe(code);
	for (const word of words) expect(result.stderr.replaceAll(/\s+/g, " "), result.text).toContain(word);
	expect(result.stderr).toMatch(new RegExp(`exit ${code}\\s*$`));
	expect(result.stderr).not.toMatch(/^\s+at /m);
}

async function sshConfig(one: Project, change: (text: string) => string): Promise<Record<string, string>> {
	const path = join(one.folder, "ssh_config");
	await writeFile(path, change(await readFile(clusterInfo().sshConfig, "utf8")), { mode: 0o600 });
	return { GYMFILE_SSH_CONFIG: path };
}

/** A port of this machine on which nobody listens. */
function closedPort(): Promise<number> {
	return new Promise((resolve) => {
		const server = createServer().listen(0, "127.0.0.1", () => {
			const { port } = server.address() as { port: number };
			server.close(() => resolve(port));
		});
	});
}

describe("the cluster", () => {
	it("cannot be reached", async () => {
		const { one } = await applied();
		const before = await world(one);
		const port = await closedPort();
		const env = await sshConfig(one, (text) => text.replace(/Port \d+/, `Port ${port}`));
		expectError(await one.gym(APPLY, env), 8, "host-unreachable", "login", "refused");
		expect(await world(one)).toEqual(before);
	});

	it("has another host key", async () => {
		const { one } = await applied();
		const before = await world(one);
		const key = join(one.folder, "other");
		await runProgram("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
		const [type, text] = (await readFile(`${key}.pub`, "utf8")).split(" ");
		const known = join(one.folder, "known_hosts");
		await writeFile(known, `[127.0.0.1]:${clusterInfo().sshPort} ${type} ${text}\n`);
		const env = await sshConfig(one, (config) =>
			config.replace(/UserKnownHostsFile .*/, `UserKnownHostsFile ${known}`),
		);
		expectError(await one.gym(APPLY, env), 8, "host-key-changed", "ssh-keygen -R");
		expect(await world(one)).toEqual(before);
	});

	it("has no sbatch on PATH, in a login shell neither", async () => {
		const one = await project();
		const bin = join(one.folder, "bin");
		await mkdir(bin);
		for (const name of await readdir("/usr/bin")) {
			if (!/^(s(batch|queue|acct|control|run|cancel|info)|scontrol)$/.test(name))
				await symlink(join("/usr/bin", name), join(bin, name));
		}
		await writeFile(join(one.folder, ".bash_profile"), `PATH='${bin}'\n`);
		const { compute, ...rest } = labDocument({ outputPath: one.outputPath, benchmarks: { first: SLEEP } });
		await one.write({ ...rest, compute: { lab: { ...compute.lab, hostname: null } } });
		expectError(await one.gym(APPLY, { PATH: bin }), 4, "no-sbatch", "this machine");
		expect(await world(one)).toEqual({ state: [], runDirs: [], jobs: [], locked: "free" });
	});

	it("lets nobody write the output path", async () => {
		const { one, document } = await applied();
		const before = await world(one);
		const outputPath = join(clusterInfo().run, "etc/evals");
		await one.write({ ...document, job: { output_path: outputPath } });
		expectError(await one.gym([...APPLY, "-replace", "*"]), 4, "output-path-not-writable", outputPath);
		expect(await world(one)).toEqual(before);
	});

	it("lacks the source of a mount", async () => {
		const { one, document } = await applied();
		const before = await world(one);
		const mounts = ["/nowhere/data set:/data", "/nowhere/more"];
		await one.write({ ...document, driver: { ...document.driver, mounts } });
		expectError(await one.gym([...APPLY]), 4, "mount-missing", "/nowhere/data set", "/nowhere/more");
		expect(await world(one)).toEqual(before);
	});

	it.runIf(clusterInfo().hasNetns)("has no space left under the output path", async () => {
		const one = await project();
		endJobs(one);
		const { uid, gid } = await stat(one.outputPath);
		const options = `size=12k,uid=${uid},gid=${gid}`;
		const mounted = await on("login", "mount", "-t", "tmpfs", "-o", options, "tmpfs", one.outputPath);
		expect(mounted.code, mounted.stderr).toBe(0);
		const unmount = () => on("login", "umount", one.outputPath);
		onTestFinished(async () => {
			await unmount();
		});
		await one.write(labDocument({ outputPath: one.outputPath, benchmarks: { first: SLEEP } }));
		expectError(await one.gym(APPLY), 1, "No space left", "run apply again");
		expect(await liveJobs(one)).toEqual(new Map());
		expect((await world(one)).locked).toBe("free");
		expect((await unmount()).code).toBe(0);
		const again = await one.gym(APPLY);
		expect(again.code, again.text).toBe(0);
		expect((await liveJobs(one)).get("first")).toHaveLength(1);
	});

	it("refuses one job of three: two are recorded, the rest is for the next apply", async () => {
		const one = await project();
		endJobs(one);
		const lift = await refuseBenchmark(one.outputPath, "aime");
		const benchmarks = { gsm8k: SLEEP, aime: SLEEP, ifeval: SLEEP };
		await one.write(labDocument({ outputPath: one.outputPath, benchmarks }));
		const first = await one.gym(APPLY);
		expect(first.code, first.text).toBe(1);
		expect(first.stdout).toMatch(/lab\/aime\s+refused\s+sbatch: error: .*Invalid license specification/);
		expect([...(await liveJobs(one)).keys()].sort()).toEqual(["gsm8k", "ifeval"]);

		const plan = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(plan.code, plan.text).toBe(2);
		expect(plan.stdout).toContain("1 to submit, 0 to resubmit");
		await lift();
		const second = await one.gym(APPLY);
		expect(second.code, second.text).toBe(0);
		const live = await liveJobs(one);
		expect([...live.keys()].sort()).toEqual(["aime", "gsm8k", "ifeval"]);
		expect([...live.values()].map((ids) => ids.length)).toEqual([1, 1, 1]);
		const done = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(done.code, done.text).toBe(0);
	});
});

describe("the state", () => {
	async function newestState(one: Project): Promise<string> {
		const folder = join(one.folder, ".gym/lab");
		const serials = (await readdir(folder)).flatMap((name) => /^state\.(\d+)\.json$/.exec(name)?.[1] ?? []);
		return join(folder, `state.${Math.max(...serials.map(Number))}.json`);
	}

	it.each([
		["is cut off", (text: string) => text.slice(0, text.length / 2), ["state-unreadable", "not whole JSON"]],
		["is empty", () => "", ["state-unreadable", "empty"]],
		[
			"is of a later program",
			(text: string) => JSON.stringify({ ...JSON.parse(text), version: 7, writer: "9.9.9", more: 1 }),
			["state-newer", "gymfile 9.9.9", "format 7"],
		],
	] as const)("%s", async (_, damage, words) => {
		const { one } = await applied();
		const file = await newestState(one);
		await writeFile(file, damage(await readFile(file, "utf8")));
		const before = await world(one);
		for (const command of [APPLY, ["plan", "-f", "lab.yaml"], ["status", "-f", "lab.yaml"]]) {
			expectError(await one.gym(command), 1, ...words);
		}
		expect(await world(one)).toEqual(before);
	});

	it("is locked by a process that lives", async () => {
		const { one } = await applied();
		const gate = await gateSbatch(one.outputPath);
		const holder = startGym(one.folder, APPLY);
		await gate.arrived();
		const before = await world(one);
		expect(before.locked).toBe("apply");
		expectError(await one.gym(APPLY), 5, "state-locked", `pid ${holder.process.pid}`);
		expect(await world(one)).toEqual(before);
		await gate.open();
		const ended = await holder.ended;
		expect(ended.code, ended.text).toBe(0);
		expect((await world(one)).locked).toBe("free");
	});
});

describe("the person", () => {
	it("cannot be asked", async () => {
		const { one } = await applied();
		const before = await world(one);
		expectError(await one.gym(["apply", "-f", "lab.yaml"]), 3, "no-terminal", "--auto-approve");
		expect(await world(one)).toEqual(before);
	});

	it("says no", async () => {
		const { one } = await applied();
		const before = await world(one);
		const said = await new Promise<GymResult>((resolve) => {
			const command = `'${process.execPath}' '${CLI}' apply -f lab.yaml`;
			const child = spawn("script", ["-qec", command, "/dev/null"], {
				cwd: one.folder,
				env: {
					PATH: process.env.PATH,
					HOME: one.folder,
					NO_COLOR: "1",
					GYMFILE_SSH_CONFIG: clusterInfo().sshConfig,
				},
			});
			let stdout = "";
			child.stdout.on("data", (chunk: Buffer) => {
				if (!stdout.includes('Only "yes"') && `${stdout}${chunk}`.includes('Only "yes"'))
					child.stdin.write("y\n");
				stdout += chunk;
			});
			child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr: "", text: stdout }));
		});
		expect(said.code, said.text).toBe(7);
		expect(said.stdout).toContain("nothing was changed");
		expect(await world(one)).toEqual(before);
	});

	it.each([
		["SIGINT", 130],
		["SIGTERM", 143],
	] as const)("stops apply with %s while jobs are submitted", async (signal, code) => {
		const { one } = await applied();
		const gate = await gateSbatch(one.outputPath);
		const run = startGym(one.folder, APPLY);
		await gate.arrived();
		run.process.kill(signal);
		await gate.open();
		const ended = await run.ended;
		expect(ended.code, ended.text).toBe(code);
		expect((await world(one)).locked).toBe("free");
		const plan = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"]);
		expect(plan.code, plan.text).toBe(0);
		expect([...(await liveJobs(one)).values()].map((ids) => ids.length)).toEqual([1, 1]);
	});

	it("stops apply with SIGINT while it connects: nothing is submitted", async () => {
		const { one } = await applied();
		const before = await world(one);
		const [here, go] = [join(one.folder, "arrived"), join(one.folder, "go")];
		const proxy = join(one.folder, "proxy");
		const lines = [
			`: >'${here}'; while [[ ! -e '${go}' ]]; do sleep 0.05; done`,
			`exec 3<>/dev/tcp/127.0.0.1/${clusterInfo().sshPort}; cat <&3 & cat >&3`,
		];
		await writeFile(proxy, lines.join("\n"));
		const env = await sshConfig(one, (text) => `${text}  ProxyCommand bash ${proxy}\n`);
		const run = startGym(one.folder, APPLY, env);
		await waitFor(async () => (await readdir(one.folder)).includes("arrived"), "the connection to begin");
		run.process.kill("SIGINT");
		await writeFile(go, "");
		const ended = await run.ended;
		expectError(ended, 130, "interrupted", "run apply again");
		expect(await world(one)).toEqual(before);
		expect((await one.gym(APPLY)).code).toBe(0);
		expect([...(await liveJobs(one)).values()].map((ids) => ids.length)).toEqual([1, 1]);
	});

	it("stops apply at once with a second SIGINT: the next one finds what was submitted", async () => {
		const { one } = await applied();
		const gate = await gateSbatch(one.outputPath);
		const run = startGym(one.folder, APPLY);
		await gate.arrived();
		// Signals of one kind that come too close count as one.
		await waitFor(() => {
			run.process.kill("SIGINT");
			return run.process.exitCode !== null;
		}, "apply to stop");
		expect((await run.ended).code).toBe(130);
		await gate.open();
		const again = await one.gym(APPLY);
		expect(again.code, again.text).toBe(0);
		expect([...(await liveJobs(one)).values()].map((ids) => ids.length)).toEqual([1, 1]);
	});
});

describe("the file", () => {
	const good = labDocument({ outputPath: "/out", benchmarks: { first: { run: { limit: 1 } } } });
	const yaml = (change: (text: string) => string) => change(stringify(good));

	it.each([
		["an unknown key", yaml((text) => text.replace("model:", "modle:")), "unknown-key", /modle/],
		[
			"a wrong type",
			yaml((text) => text.replace("gpus_per_node: 8", "gpus_per_node: many")),
			"",
			/many|number/,
		],
		[
			"a wrong reference",
			yaml((text) => text.replace("policy_model: policy", "policy_model: polcy")),
			"",
			/polcy/,
		],
		[
			"a variable that is not set",
			yaml((text) =>
				text.replace("tensor_parallel_size", "env: { T: host:NOT_SET_HERE }\n    tensor_parallel_size"),
			),
			"host-variable-unset",
			/NOT_SET_HERE/,
		],
		["a syntax error", yaml((text) => text.replace("driver:", "driver: [")), "", /lab\.yaml/],
		["a key twice", yaml((text) => `${text}job: {}\n`), "", /job/],
	])("has %s", async (_, text, code, words) => {
		const one = await project();
		await writeFile(join(one.folder, "lab.yaml"), text);
		const result = await one.gym(APPLY, { GYMFILE_SSH_CONFIG: "/nowhere" });
		expectError(result, 3, code, "Nothing was contacted");
		expect(result.stderr).toMatch(/lab\.yaml:\d+:\d+/);
		expect(result.stderr).toMatch(words);
		expect(await readdir(one.folder)).toEqual(["lab.yaml"]);
	});

	it.each([
		[
			"throws",
			'import { App } from "gymfile";\nnew App();\nthrow new Error("no weights");\n',
			"no weights",
			":3",
		],
		["has no default export", "export const app = 1;\n", "no default export", ""],
		["has a syntax error", "const x = ;\n", "gymfile-syntax", ":1:11"],
	])("is a gymfile that %s", async (_, text, words, place) => {
		const one = await project();
		await writeFile(join(one.folder, "gymfile.ts"), text);
		const result = await one.gym(["apply", "--auto-approve"], { GYMFILE_SSH_CONFIG: "/nowhere" });
		expectError(result, 3, words, `gymfile.ts${place}`);
		expect(await readdir(one.folder)).not.toContain(".gym");
	});

	it("is missing", async () => {
		const one = await project();
		expectError(await one.gym(["apply", "--auto-approve"]), 3, "gymfile-missing");
		expectError(await one.gym(APPLY), 3, "file-missing", "lab.yaml");
	});
});
