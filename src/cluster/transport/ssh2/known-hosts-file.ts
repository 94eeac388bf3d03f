/** The known_hosts files on this machine. */
import { mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type KnownHost, parseKnownHosts } from "./known-hosts.ts";

/** All keys of these files, in order. A file that is missing or cannot be read holds none, as for ssh. */
export async function readKnownHosts(files: readonly string[]): Promise<readonly KnownHost[]> {
	const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
	return texts.flatMap((text, index) => parseKnownHosts(text, files[index]!));
}

/**
 * Adds a line in one write, so that others who do the same at that moment neither lose theirs nor break ours.
 * A missing file is made, only ours to read and write.
 * @throws Error of the file system
 */
export async function addKnownHost(file: string, line: string): Promise<void> {
	await mkdir(dirname(file), { recursive: true, mode: 0o700 });
	const handle = await open(file, "a+", 0o600);
	try {
		const { size } = await handle.stat();
		const last = Buffer.alloc(1);
		if (size > 0) await handle.read(last, 0, 1, size - 1);
		const unfinished = size > 0 && last.toString() !== "\n";
		await handle.appendFile(`${unfinished ? "\n" : ""}${line}\n`);
	} finally {
		await handle.close();
	}
}
