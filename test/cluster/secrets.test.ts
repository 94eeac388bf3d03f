/** Values of `host:` variables reach the programs whole, and nothing and nobody else. */
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { clusterInfo, jobs, on, waitFor } from "../setup/cluster.ts";
import { runProgram } from "../setup/slurm-cluster.ts";
import { CLI, labDocument, type Project, project } from "./gym.ts";
import { filesBelow, runDirs, settled } from "./runs.ts";
import { type StubFolder, stubFolder } from "./stub-folder.ts";

/** No quoting changes this part of a value: whoever shows the value in whatever form shows this. */
const MARK = `leak${process.pid}x${Date.now().toString(36)}`;
const FORWARDED_MARK = `fwd${MARK}`.replace("leak", "ward");

const HOSTILE = {
	QUOTES: `${MARK} s3cr3t'"$(touch /tmp/x)\`id\`\\'"`,
	LINES: `\n${MARK}\r\n\ttwo\nSTEP\nEOF\n`,
	UNICODE: `${MARK} ключ 漢字 😀 \u0001\u007f!!`,
	EXPAND: `${MARK} $HOME \${HOME} $$ $? ~ * {a,b} <(id) & ; | # %s \\n`,
	EMPTY: "",
};
const FORWARDED = `${FORWARDED_MARK} it's "so" $HOME\n2`;

const SECRET_ENV = Object.fromEntries(Object.keys(HOSTILE).map((name) => [name, `host:SECRET_${name}`]));

/** The shell of the person who submits. */
const SHELL = {
	...Object.fromEntries(Object.entries(HOSTILE).map(([name, value]) => [`SECRET_${name}`, value])),
	FORWARDED,
};

/** Command lines of this machine's processes, those of the cluster's hosts among them, that hold the text. */
async function commandLinesWith(text: string): Promise<readonly string[]> {
	const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
	const lines = await Promise.all(
		pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
	);
	return lines.filter((line) => line.includes(text));
}

/** Looks at all command lines again and again while the promise is open. */
async function watched<T>(work: Promise<T>): Promise<T> {
	let open = true;
	const end = work.finally(() => {
		open = false;
	});
	while (open) {
		expect(await commandLinesWith(MARK)).toEqual([]);
		await Promise.race([end.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 5))]);
	}
	return end;
}

/** Files below the folders that hold the text. */
async function filesWith(text: string, ...folders: readonly string[]): Promise<readonly string[]> {
	const found = await runProgram("grep", ["-rlaFs", "--devices=skip", "-e", text, ...folders]);
	return found.stdout.split("\n").filter(Boolean);
}

/** Files of the cluster, Slurm's own among them, that hold the text; not what the stubs recorded. */
async function clusterFilesWith(text: string, stubs: StubFolder): Promise<readonly string[]> {
	const { run } = clusterInfo();
	const folders = ["etc", "home", "log", "out", "spool", "state"].map((name) => join(run, name));
	return (await filesWith(text, ...folders)).filter((file) => !file.startsWith(stubs.path));
}

async function told(...command: readonly string[]): Promise<string> {
	const { code, stdout, stderr } = await on("ctl", ...command);
	expect(code, stderr).toBe(0);
	return stdout;
}

async function onlyJob(one: Project): Promise<string> {
	const found = await jobs(`${one.outputPath}/`);
	expect(found).toHaveLength(1);
	return String(found[0]!.id);
}

/** A job's environment as Slurm's accounting keeps it. */
function accountedEnvironment(id: string): Promise<string> {
	return waitFor(async () => {
		const stored = await told("sacct", "-j", id, "--env-vars");
		return stored.includes("FORWARDED=") && stored;
	}, "the job's environment in the accounting");
}

async function secretFiles(one: Project): Promise<readonly string[]> {
	return (await filesBelow(one.outputPath)).filter((file) => /\/\.env/.test(file));
}

describe("values of host: variables", () => {
	it("are seen by the programs only", async () => {
		const one = await project();
		const temporary = await mkdtemp(join(tmpdir(), "gs-"));
		onTestFinished(() => rm(temporary, { recursive: true, force: true }));
		const shell = { ...SHELL, TMPDIR: temporary };
		const stubs = await stubFolder();
		await stubs.gate("first");
		await one.write(
			labDocument({
				outputPath: one.outputPath,
				compute: { forward_env: ["FORWARDED"] },
				policy: { env: { ...stubs.env, ...SECRET_ENV, ARRIVES: "runtime:FORWARDED" } },
				driver: { env: { ...stubs.env, ...SECRET_ENV, QUOTES: "host:SECRET_LINES" } },
				benchmarks: { keep: { prepare: { a: 1 }, run: { b: 2 } } },
			}),
		);
		const said: string[] = [];
		const gym = async (...args: readonly string[]) => {
			const result = await watched(one.gym([...args, "-f", "lab.yaml"], shell));
			said.push(result.text);
			return result;
		};

		await gym("plan", "-show-job=full");
		await gym("plan", "-json");
		const applied = await gym("apply", "--auto-approve");
		expect(applied.code, applied.text).toBe(0);
		const [runDir] = await runDirs(one);
		const env = join(runDir!, "keep/.env");

		// The server and `gym eval prepare` are at work.
		await stubs.arrived("first", 2);
		expect(await commandLinesWith(MARK)).toEqual([]);
		expect(await clusterFilesWith(MARK, stubs)).toEqual([env]);
		expect((await stat(env)).mode & 0o777).toBe(0o600);
		// Slurm itself keeps the job's environment, so the files of ours are looked at.
		expect(await filesWith(FORWARDED_MARK, runDir!, one.folder)).toEqual([]);
		await gym("status");
		await gym("plan", "-detailed-exitcode");
		await stubs.gate("second");
		await stubs.open("first");

		// `gym eval run` is at work.
		await stubs.arrived("second", 1);
		expect(await commandLinesWith(MARK)).toEqual([]);
		expect(await clusterFilesWith(MARK, stubs)).toEqual([env]);
		const id = await onlyJob(one);
		const script = await told("scontrol", "write", "batch_script", id, "-");
		expect(script).toContain("srun");
		expect(script).not.toContain(MARK);
		await stubs.open("second");
		await settled(one);

		expect(await secretFiles(one)).toEqual([]);
		expect(await clusterFilesWith(MARK, stubs)).toEqual([]);
		expect(await filesWith(FORWARDED_MARK, runDir!, one.folder)).toEqual([]);
		expect(await filesWith(MARK, one.folder, temporary)).toEqual([]);
		expect(await readdir(temporary)).toEqual([]);
		await gym("status", "-json");
		await gym("logs", "keep");
		for (const text of said) expect(text).not.toContain(MARK);

		const records = await stubs.records();
		const of = (program: string, verb: string) =>
			records.find((record) => record.program === program && record.argv.includes(verb))!;
		expect(of("vllm", "serve").env).toMatchObject({ ...HOSTILE, ARRIVES: FORWARDED });
		for (const verb of ["prepare", "run"]) {
			expect(of("gym", verb).env).toMatchObject({ ...HOSTILE, QUOTES: HOSTILE.LINES });
		}
		for (const { env: seen } of records) {
			expect(Object.keys(seen).filter((name) => /^GYM_(E\d|SECRET)/.test(name))).toEqual([]);
		}

		expect(await accountedEnvironment(id)).not.toContain(MARK);
		expect(await told("sacct", "-j", id, "-B")).not.toContain(MARK);
		expect(await told("sacct", "-j", id, "-P", "-o", "ALL")).not.toContain(MARK);
	});

	it("stay out of the job's environment when sbatch runs on this machine", async () => {
		const one = await project();
		const stubs = await stubFolder();
		const { compute, ...rest } = labDocument({
			outputPath: one.outputPath,
			compute: { forward_env: ["FORWARDED"] },
			policy: { health_check: {}, env: { ...stubs.env, ...SECRET_ENV, INHERITED: "runtime:INHERITED" } },
			benchmarks: { keep: { command: "true" } },
		});
		await one.write({ ...rest, compute: { lab: { ...compute.lab, hostname: null } } });
		const PATH = `${join(clusterInfo().run, "bin")}:${process.env.PATH}`;
		const shell = { ...SHELL, INHERITED: "from the shell", HOME: one.folder, PATH };
		const settings = Object.entries(shell).map(([name, value]) => `${name}=${value}`);
		const command = [process.execPath, CLI, "apply", "-f", "lab.yaml", "--auto-approve"];
		const applied = await on("login", "env", "-C", one.folder, ...settings, ...command);
		expect(applied.code, applied.stdout + applied.stderr).toBe(0);
		await settled(one);
		const [server] = await stubs.records();
		expect(server?.env).toMatchObject({ ...HOSTILE, INHERITED: "from the shell" });
		expect(Object.keys(server!.env).filter((name) => name.startsWith("SECRET_"))).toEqual([]);
		const kept = await accountedEnvironment(await onlyJob(one));
		expect(kept).toContain("from the shell");
		expect(kept).not.toContain(MARK);
	});

	it("can be rotated: no change, and the next submission has the new one", async () => {
		const one = await project();
		const stubs = await stubFolder();
		await stubs.gate("held");
		const document = labDocument({
			outputPath: one.outputPath,
			policy: { health_check: {}, env: { ...stubs.env, TOKEN: "host:TOKEN" } },
			benchmarks: { keep: { command: "true" } },
		});
		await one.write(document);
		const apply = ["apply", "-f", "lab.yaml", "--auto-approve"];
		expect((await one.gym(apply, { TOKEN: "before" })).code).toBe(0);
		await stubs.arrived("held", 1);
		const plan = await one.gym(["plan", "-f", "lab.yaml", "-detailed-exitcode"], { TOKEN: "after" });
		expect(plan.code, plan.text).toBe(0);
		await stubs.open("held");
		await settled(one);
		const again = await one.gym([...apply, "-replace", "lab/keep"], { TOKEN: "after" });
		expect(again.code, again.text).toBe(0);
		await settled(one);
		expect((await stubs.records()).map(({ env }) => env.TOKEN).sort()).toEqual(["after", "before"]);
	});

	it("are gone when a job has failed, was cancelled while running or waiting, or was refused", async () => {
		const running = await project();
		const base = { outputPath: running.outputPath, driver: { env: SECRET_ENV } };
		const benchmarks = { bad: { command: "exit 3" }, slow: { command: "sleep 300" } };
		await running.write(labDocument({ ...base, benchmarks }));
		const apply = ["apply", "-f", "lab.yaml", "--auto-approve"];
		const applied = await running.gym(apply, SHELL);
		expect(applied.code, applied.text).toBe(0);
		await waitFor(
			async () => (await secretFiles(running)).every((file) => file.includes("/slow/")),
			"the failed job to remove its file",
		);
		const log = join((await runDirs(running))[0]!, "slow/chain.jsonl");
		await waitFor(
			async () => (await readFile(log, "utf8").catch(() => "")).includes('"run"'),
			"the slow command to run",
		);
		expect(await secretFiles(running)).toHaveLength(1);

		const waiting = await project();
		await waiting.write(
			labDocument({
				outputPath: waiting.outputPath,
				driver: { env: SECRET_ENV },
				compute: { extra_args: { begin: "now+1hour" } },
				benchmarks: { later: { command: "true" } },
			}),
		);
		expect((await waiting.gym(apply, SHELL)).code).toBe(0);
		expect(await secretFiles(waiting)).toHaveLength(1);

		for (const [one, name] of [
			[running, "slow"],
			[waiting, "later"],
		] as const) {
			const done = await one.gym(["cancel", name, "-f", "lab.yaml", "--auto-approve"], SHELL);
			expect(done.code, done.text).toBe(0);
			await settled(one);
			expect(await secretFiles(one)).toEqual([]);
		}

		const refused = await project();
		await refused.write(
			labDocument({
				outputPath: refused.outputPath,
				driver: { env: SECRET_ENV },
				compute: { extra_args: { licenses: "nosuch:1" } },
				benchmarks: { no: { command: "true" } },
			}),
		);
		const no = await refused.gym(apply, SHELL);
		expect(no.code, no.text).toBe(1);
		expect(await secretFiles(refused)).toEqual([]);
		for (const one of [running, waiting, refused]) {
			expect(await filesWith(MARK, one.outputPath, one.folder)).toEqual([]);
		}
	});
});
