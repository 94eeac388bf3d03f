/** A folder through which a test and the stub programs of its jobs talk: settings, gates, records (see test/setup/stubs/stub.py). */
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { clusterInfo, waitFor } from "../setup/cluster.ts";

/** How a stub program was called. */
export interface StubRecord {
	readonly program: string;
	readonly argv: readonly string[];
	readonly env: Readonly<Record<string, string>>;
	readonly cwd: string;
	readonly host: string;
	readonly pid: number;
}

export interface StubFolder {
	readonly path: string;
	/** What a step's `env` needs so that its stubs work with this folder. */
	readonly env: Readonly<Record<string, string>>;
	/** From now on stubs stop at the gate of that name; null: at none. */
	gate(name: string | null): Promise<void>;
	/** Waits until that many programs stand at the gate. */
	arrived(name: string, count: number): Promise<void>;
	open(name: string): Promise<void>;
	/** All records so far. */
	records(): Promise<readonly StubRecord[]>;
}

async function give(path: string): Promise<string> {
	const { uid, gid } = await stat(clusterInfo().outputRoot);
	await chown(path, uid, gid);
	return path;
}

/** A new folder in the home of the cluster's user, which container steps see; removed after the test. */
export async function stubFolder(): Promise<StubFolder> {
	const path = await give(await mkdtemp(join(clusterInfo().home, "stubs-")));
	onTestFinished(() => rm(path, { recursive: true, force: true }));
	const recordFolder = await makeFolder(join(path, "records"));
	const config = join(path, "config.json");
	const gate = async (name: string | null): Promise<void> => {
		if (name !== null) await makeFolder(join(path, name));
		await writeFile(`${config}.new`, JSON.stringify(name === null ? {} : { STUB_GATE: join(path, name) }));
		await rename(`${config}.new`, config);
	};
	await gate(null);
	return {
		path,
		env: { STUB_CONFIG: `lit:${config}`, STUB_RECORD: `lit:${recordFolder}` },
		gate,
		async arrived(name, count) {
			const here = async () =>
				(await readdir(join(path, name))).filter((file) => file.startsWith("arrived-")).length >= count;
			await waitFor(here, `${count} program(s) at the gate ${name}`);
		},
		open: (name) => writeFile(join(path, name, "open"), ""),
		async records() {
			const files = (await readdir(recordFolder)).filter((file) => file.endsWith(".json"));
			const texts = await Promise.all(files.map((file) => readFile(join(recordFolder, file), "utf8")));
			return texts.map((text) => JSON.parse(text) as StubRecord);
		},
	};
}

/** A folder that the cluster's user owns. */
export async function makeFolder(path: string): Promise<string> {
	await mkdir(path);
	return give(path);
}
