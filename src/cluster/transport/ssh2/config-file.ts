/** Reads ssh's configuration files, with what they include. */
import { readdir, readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { type Line, LineType, type Section as ParsedSection, parse } from "ssh-config";
import { fail } from "../../../errors.ts";
import { patternsHold } from "./pattern.ts";

/** One line that sets something. */
export interface Setting {
	/** In lower case. */
	readonly keyword: string;
	readonly values: readonly string[];
}

/** Lines under a condition; `include` has none of its own. */
export interface Section {
	readonly kind: "host" | "match" | "include";
	/** The words of the condition. */
	readonly condition: readonly string[];
	readonly entries: readonly Entry[];
}

/** What a file holds, in order. */
export type Entry = Setting | Section;

/** Files within files within files: ssh stops there too. */
const INCLUDE_DEPTH = 16;

/** The paths that a pattern names, sorted. Patterns may stand in every part of it. */
async function pathsFor(pattern: string): Promise<readonly string[]> {
	let paths = ["/"];
	for (const part of pattern.split("/").filter(Boolean)) {
		if (!/[*?]/.test(part)) {
			paths = paths.map((path) => join(path, part));
			continue;
		}
		const found = await Promise.all(
			paths.map(async (path) => {
				const names = await readdir(path).catch(() => []);
				const fitting = names.filter((name) => patternsHold([part], name));
				return fitting.filter((name) => part.startsWith(".") || !name.startsWith("."));
			}),
		);
		paths = paths.flatMap((path, index) => found[index]!.sort().map((name) => join(path, name)));
	}
	return paths;
}

/** Where files are looked for. */
interface Place {
	readonly file: string;
	/** Where relative names of included files begin. */
	readonly folder: string;
	/** For `~`. */
	readonly home: string;
	readonly depth: number;
}

function refused(file: string, why: string) {
	return fail("unreachable", "ssh-config-refused", `${file}: ${why}`, "correct that file");
}

async function entriesOf(lines: readonly Line[], place: Place): Promise<readonly Entry[]> {
	const entries: Entry[] = [];
	for (const line of lines) {
		if (line.type !== LineType.DIRECTIVE) continue;
		const keyword = line.param.toLowerCase();
		const values = Array.isArray(line.value) ? line.value.map(({ val }) => val) : [line.value];
		if (keyword === "host" || keyword === "match") {
			const inner = await entriesOf((line as ParsedSection).config, place);
			entries.push({ kind: keyword, condition: values, entries: inner });
		} else if (keyword === "include") {
			if (place.depth === INCLUDE_DEPTH) throw refused(place.file, "too many files that include each other");
			for (const value of values) {
				const path = value.replace(/^~(?=\/)/, place.home);
				for (const file of await pathsFor(isAbsolute(path) ? path : join(place.folder, path))) {
					const inner = await readEntries({ ...place, file, depth: place.depth + 1 });
					entries.push({ kind: "include", condition: [], entries: inner ?? [] });
				}
			}
		} else {
			entries.push({ keyword, values });
		}
	}
	return entries;
}

/** Null when there is no such file. */
async function readEntries(place: Place): Promise<readonly Entry[] | null> {
	const text = await readFile(place.file, "utf8").catch(() => null);
	if (text === null) return null;
	let lines: readonly Line[];
	try {
		lines = parse(text);
	} catch (error) {
		throw refused(place.file, `cannot be understood: ${(error as Error).message}`);
	}
	return entriesOf(lines, place);
}

/**
 * The configuration as ssh would read it: one file when it is named, else the user's and then the system's.
 * @param file null: the usual ones, each of which may be missing
 * @throws GymError exit `unreachable`, code `ssh-config-refused`
 */
export async function readSshConfig(file: string | null, home: string): Promise<readonly Entry[]> {
	const folder = join(home, ".ssh");
	if (file !== null) {
		const entries = await readEntries({ file, folder, home, depth: 0 });
		if (entries === null) throw refused(file, "there is no such ssh configuration");
		return entries;
	}
	const users = await readEntries({ file: join(folder, "config"), folder, home, depth: 0 });
	const systems = await readEntries({ file: "/etc/ssh/ssh_config", folder: "/etc/ssh", home, depth: 0 });
	return [...(users ?? []), ...(systems ?? [])];
}
