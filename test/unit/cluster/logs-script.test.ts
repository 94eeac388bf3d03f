/** The logs exchange, run for real in bash. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LOG_LIMIT } from "../../../src/cluster/scheduler.ts";
import { logsScript } from "../../../src/cluster/slurm/logs-script.ts";
import { slurmScheduler } from "../../../src/cluster/slurm/scheduler.ts";
import { noPoints } from "../../../src/points.ts";
import { shellcheck } from "./fake-slurm.ts";

let folder: string;
beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), "gym-logs-"));
	await mkdir(join(folder, "logs"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (file: string, text: string) => writeFile(join(folder, "logs", file), text);

async function logs(offsets: Readonly<Record<string, number>>, tail = 3) {
	const run = async (_: string, script: string) => {
		const { stdout } = await promisify(execFile)("bash", ["-c", script], { maxBuffer: 64 << 20 });
		return { code: 0, stdout, stderr: "" };
	};
	const scheduler = slurmScheduler({ label: "here", run, close: async () => {} } as never, noPoints);
	return scheduler.logs(folder, new Map(Object.entries(offsets)), tail);
}

test("a file that is not known begins at its last lines, another one goes on", async () => {
	await write("driver-1.log", "1\n2\n3\n4\n5");
	await write("policy-1.log", "one\ntwo\n");
	await write("quiet-1.log", "same\n");
	expect(await logs({ "policy-1.log": 4, "quiet-1.log": 5 })).toEqual([
		{ file: "driver-1.log", size: 9, text: "3\n4\n5" },
		{ file: "policy-1.log", size: 8, text: "two\n" },
	]);
});

test("what one look cannot carry comes with the next", async () => {
	await write("driver-1.log", `${"x".repeat(LOG_LIMIT)}end`);
	const [first] = await logs({ "driver-1.log": 1 });
	expect(first).toMatchObject({ size: LOG_LIMIT + 1 });
	expect(first!.text).toHaveLength(LOG_LIMIT);
	expect(await logs({ "driver-1.log": first!.size })).toMatchObject([{ text: "nd" }]);
});

test("names are only names", async () => {
	const names = ["a[$(touch made)].log", "$(touch made)-1.log", "b]+c[0.log"];
	for (const name of names) await write(name, "one\ntwo\n");
	const known = Object.fromEntries(names.map((name) => [name, 4]));
	expect((await logs(known)).map(({ file, text }) => [file, text])).toEqual(
		names.sort().map((name) => [name, "two\n"]),
	);
	expect(await readdir(join(folder, "logs"))).toEqual(names);
	// Older shells evaluate a subscript of an array inside of ((…)) once more.
	const script = logsScript(folder, new Map(), 3);
	expect(script.match(/\(\([^)]*\[\$f\]/)).toBeNull();
	shellcheck(script);
});
