/** Reads `submit.yaml`: the raw tree with a `Map` for every mapping, and where each part of it was written. */
import {
	type Document,
	isAlias,
	isMap,
	isScalar,
	isSeq,
	LineCounter,
	type Node,
	parseDocument,
	type Scalar,
	type YAMLMap,
} from "yaml";
import type { Problem, SourceLocation } from "../errors.ts";
import type { SourceMap, Value } from "../submit/config.ts";
import { float } from "../submit/float.ts";
import { type Path, pathText } from "../submit/path.ts";
import { literalText } from "./interpolation.ts";
import { readPlain } from "./yaml-scalar.ts";

/** What a submit file holds. With problems, `raw` may be incomplete. */
export interface LoadedYaml {
	readonly raw: ReadonlyMap<string, Value>;
	readonly sources: SourceMap;
	/** Syntax errors, doubled keys, interpolations we cannot resolve; empty when the file was read. */
	readonly problems: readonly Problem[];
}

/** Nodes that one file may expand to; aliases of aliases could otherwise fill the memory. */
const MOST_NODES = 200_000;

/** One key of a mapping, merged ones included. */
interface Entry {
	readonly key: Scalar;
	readonly value: unknown;
}

const positionKey = (path: Path) => JSON.stringify(path);

class Reader {
	readonly problems: Problem[] = [];
	readonly #positions = new Map<string, SourceLocation>();
	readonly #open = new Set<Node>();
	readonly #document: Document;
	readonly #lines: LineCounter;
	readonly #file: string;
	#nodes = 0;

	constructor(document: Document, lines: LineCounter, file: string) {
		this.#document = document;
		this.#lines = lines;
		this.#file = file;
	}

	/** Position of an offset in the file. */
	at(offset: number): SourceLocation {
		const { line, col } = this.#lines.linePos(offset);
		return { file: this.#file, line, column: col };
	}

	locate(path: Path): { readonly source?: SourceLocation } {
		for (let length = path.length; length > 0; length--) {
			const source = this.#positions.get(positionKey(path.slice(0, length)));
			if (source) return { source };
		}
		return { source: { file: this.#file } };
	}

	/** The value of a node; problems are noted, and stand as null. */
	read(given: unknown, path: Path): Value {
		const node = isAlias(given) ? given.resolve(this.#document) : (given as Node | null | undefined);
		if (node === null) return null;
		if (node === undefined) return this.#refuse("yaml-alias", path, "the alias names no anchor before it");
		if (++this.#nodes > MOST_NODES || this.#open.has(node)) {
			if (this.#nodes > MOST_NODES + 1) return null;
			return this.#refuse("yaml-too-large", path, "aliases make the document too large, or part of itself");
		}
		this.#open.add(node);
		const value = isScalar(node)
			? this.#scalar(node, path)
			: isSeq(node)
				? this.#list(node.items, path)
				: this.#mapping(node as YAMLMap, path);
		this.#open.delete(node);
		return value;
	}

	#list(items: readonly unknown[], path: Path): Value {
		return items.map((item, i) => {
			const itemPath = [...path, i];
			const range = (item as Node | null)?.range;
			if (range) this.#positions.set(positionKey(itemPath), this.at(range[0]));
			return this.read(item, itemPath);
		});
	}

	#mapping(node: YAMLMap, path: Path): Value {
		const tree = new Map<string, Value>();
		for (const [name, { key, value }] of this.#entries(node, path)) {
			// Scratch namespaces are only there to be referred to.
			if (path.length === 0 && name.startsWith("_")) continue;
			const entryPath = [...path, name];
			this.#positions.set(positionKey(entryPath), this.at(key.range?.[0] ?? 0));
			tree.set(name, this.read(value, entryPath));
		}
		return tree;
	}

	/** The keys of a mapping: those merged by `<<` first, then its own, which win; as PyYAML does it. */
	#entries(node: YAMLMap, path: Path): ReadonlyMap<string, Entry> {
		const own = new Map<string, Entry>();
		const merged = new Map<string, Entry>();
		for (const { key: given, value } of node.items) {
			const key = isAlias(given) ? given.resolve(this.#document) : given;
			if (!isScalar(key)) {
				this.#refuse("yaml-key", path, "a key must be text", undefined, (given as Node | null)?.range?.[0]);
				continue;
			}
			const name = String(key.value ?? "");
			if (name === "<<" && key.type === "PLAIN") this.#merge(value, path, merged);
			else if (own.has(name)) this.#refuseDouble(name, own.get(name)!.key, key, path);
			else own.set(name, { key, value });
		}
		return new Map([...merged, ...own]);
	}

	/** Adds what `<<` names; of several mappings the earlier ones win. */
	#merge(given: unknown, path: Path, merged: Map<string, Entry>): void {
		const node = isAlias(given) ? given.resolve(this.#document) : given;
		if (isSeq(node)) {
			for (const item of node.items) this.#merge(item, path, merged);
		} else if (isMap(node) && !this.#open.has(node)) {
			this.#open.add(node);
			for (const [name, entry] of this.#entries(node, path)) if (!merged.has(name)) merged.set(name, entry);
			this.#open.delete(node);
		} else {
			const offset = (given as Node | null)?.range?.[0];
			this.#refuse("yaml-merge", path, "<< takes a mapping or a list of mappings", undefined, offset);
		}
	}

	#scalar(node: Scalar, path: Path): Value {
		const text = String(node.value ?? "");
		const type = node.tag?.replace("tag:yaml.org,2002:", "");
		if (type === undefined ? node.type === "PLAIN" : ["int", "float", "bool", "null"].includes(type)) {
			const plain = readPlain(text);
			if (plain.kind === "too-large") {
				const message = "the number has more digits than can be kept";
				return this.#refuse("number-too-large", path, message, "put it in quotes");
			}
			if (type === "float" && typeof plain.value === "number") return float(plain.value);
			if (typeof plain.value !== "string") return plain.value;
		} else if (type !== undefined && type !== "str" && type !== "!") {
			// Its name is not shown: it may be a secret that begins with an exclamation mark.
			const remedy = "remove it; text that begins with ! goes in quotes";
			return this.#refuse("yaml-tag", path, "the tag is not known", remedy);
		}
		const literal = literalText(text);
		if (literal !== null) return literal;
		const message = "interpolation (${…}) is not supported here yet";
		return this.#refuse("not-yet", path, message, "write the value itself; for the characters ${ write \\${");
	}

	#refuseDouble(name: string, first: Scalar, second: Scalar, path: Path): void {
		const { line, column } = this.at(first.range?.[0] ?? 0);
		const message = `the key is given twice, first at ${this.#file}:${line}:${column}`;
		this.#refuse("duplicate-key", [...path, name], message, "remove one", second.range?.[0]);
	}

	#refuse(code: string, path: Path, message: string, remedy?: string, offset?: number): null {
		const place = offset === undefined ? this.locate(path) : { source: this.at(offset) };
		const help = remedy === undefined ? {} : { remedy };
		this.problems.push({ code, severity: "error", at: pathText(path), message, ...help, ...place });
		return null;
	}
}

/**
 * Reads the text of a submit file; `file` is its name in problems. Anchors, aliases and merge keys are
 * resolved, top-level keys starting with `_` are dropped, and `\${` becomes `${`. Never throws for what a
 * file may hold.
 */
export function loadSubmitYaml(text: string, file: string): LoadedYaml {
	const lineCounter = new LineCounter();
	// Failsafe: every scalar arrives as its text, and is typed by `readPlain` alone.
	const document = parseDocument(text, {
		schema: "failsafe",
		uniqueKeys: false,
		prettyErrors: false,
		lineCounter,
	});
	const reader = new Reader(document, lineCounter, file);
	const sources: SourceMap = { locate: (path) => reader.locate(path) };
	if (document.errors.length > 0) {
		const problems = document.errors.map(({ message: said, pos }): Problem => {
			// What follows the colon is the text itself, which may be a secret.
			const message = said.replace(/: .*/s, "");
			return { code: "yaml-syntax", severity: "error", at: "", message, source: reader.at(pos[0]) };
		});
		return { raw: new Map(), sources, problems };
	}
	const raw = reader.read(document.contents, []);
	if (raw instanceof Map)
		return { raw: raw as ReadonlyMap<string, Value>, sources, problems: reader.problems };
	const message = "a submit document is a mapping with services, compute, driver and job";
	const root: Problem = {
		code: "yaml-root",
		severity: "error",
		at: "",
		message,
		source: { file, line: 1, column: 1 },
	};
	return { raw: new Map(), sources, problems: [...reader.problems, root] };
}
