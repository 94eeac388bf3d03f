/** Submit documents for the peer, and what differs on purpose between its resolved documents and ours. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { synth } from "../../constructs/testing/index.ts";
import { loadSubmitYaml } from "../../src/load/submit-yaml.ts";
import type { SubmitConfig, Value } from "../../src/submit/config.ts";
import { emitYaml } from "../../src/submit/emit.ts";
import { float } from "../../src/submit/float.ts";
import { validateDocument } from "../../src/submit/validate.ts";
import { loadApp } from "../unit/load/load-app.ts";
import { type Given, shown } from "./peer.ts";

const ROOT = join(import.meta.dirname, "../..");
const KIT = join(ROOT, "test/conformance/kit/submit/given");

/** A mapping of a document. */
export type Tree = ReadonlyMap<string, Value>;

/** A valid document as written and with every default. */
export interface Document {
	readonly name: string;
	readonly raw: Tree;
	readonly config: SubmitConfig;
}

/** Stacks of the examples, and of the gymfile at the root as it is for Slurm. */
export async function exampleDocuments(): Promise<readonly Document[]> {
	const cacheDirectory = await mkdtemp(join(tmpdir(), "gymfile-peer-"));
	try {
		const files = await readdir(join(ROOT, "examples"), { recursive: true });
		const gymfiles = files
			.filter((file) => file.endsWith("gymfile.ts"))
			.map((file) => join("examples", file));
		const loaded = ["gymfile.ts", ...gymfiles].map(async (file) => {
			const { app } = await loadApp(join(ROOT, file), { context: { cluster: "slurm" }, cacheDirectory });
			return synth(app).map(({ stack, document, config }) => ({
				name: `${file} ${stack}`,
				raw: document,
				config,
			}));
		});
		return (await Promise.all(loaded)).flat();
	} finally {
		await rm(cacheDirectory, { recursive: true, force: true });
	}
}

/** Accepted cases of the kit with interpolations that we do not resolve yet. */
const INTERPOLATED = ["pd-port-as-text", "scratch-keys"];

/** Files of the kit that are accepted as they stand, without overrides. */
export async function kitDocuments(): Promise<readonly Document[]> {
	const names = await readdir(join(KIT, "expected"));
	const documents = names.map(async (file): Promise<readonly Document[]> => {
		const text = await readFile(join(KIT, "expected", file), "utf8");
		const { case: name, config: path, outcome, overrides, submit_env } = JSON.parse(text) as Expected;
		if (outcome !== "ok" || overrides.length > 0 || INTERPOLATED.includes(name)) return [];
		const { raw, problems } = loadSubmitYaml(await readFile(join(KIT, path), "utf8"), path);
		const { config } = validateDocument(raw, {
			hostEnv: (variable) => submit_env[variable],
			missingHost: "error",
		});
		if (config === null || problems.length > 0) throw new Error(`${name} is refused`);
		return [{ name, raw, config }];
	});
	return (await Promise.all(documents)).flat();
}

/** What the kit says of a case. */
interface Expected {
	readonly case: string;
	readonly config: string;
	readonly outcome: "ok" | "error";
	readonly overrides: readonly string[];
	readonly submit_env: Readonly<Record<string, string>>;
}

/** The tree with every value of this key changed; undefined leaves it out. */
function changed(tree: Tree, name: string, change: (value: Value) => Value | undefined): Tree {
	return new Map(
		[...tree].flatMap(([key, value]) => {
			const inside = value instanceof Map ? changed(value as Tree, name, change) : value;
			const next = key === name ? change(value) : inside;
			return next === undefined ? [] : [[key, next] as const];
		}),
	);
}

function withoutForwardEnv(tree: Tree): Tree {
	return changed(tree, "forward_env", () => undefined);
}

/** A deliberate difference between resolved documents. */
export interface Difference {
	readonly subject: string;
	readonly why: string;
	/** Our tree as the peer has it. */
	readonly asPeer: (tree: Tree) => Tree;
}

/** All of them; everything else is equal. */
export const DIFFERENCES: readonly Difference[] = [
	{
		subject: "compute.*.forward_env",
		why: "it is documented, but 0.7.0 does not know it",
		asPeer: withoutForwardEnv,
	},
	{
		subject: "lit: in env",
		why: "the peer keeps the value alone, so that lit:host:X cannot be told from host:X any more",
		asPeer: (tree) =>
			changed(tree, "env", (env) => {
				return new Map(
					[...(env as ReadonlyMap<string, string>)].map(([k, v]) => [k, v.replace(/^lit:/, "")]),
				);
			}),
	},
	{
		subject: "amounts of a ray service's resources",
		why: "4 becomes 4.0 there, which is the same amount",
		asPeer: (tree) =>
			changed(tree, "resources", (pools) => {
				const floats = (amounts: Value) =>
					new Map([...(amounts as ReadonlyMap<string, number>)].map(([k, v]) => [k, float(v)]));
				return new Map([...(pools as Tree)].map(([pool, amounts]) => [pool, floats(amounts)]));
			}),
	},
];

/** Our tree as the peer would have it, but for the difference that is to be seen. */
export function asPeer(tree: Tree, but?: Difference): Tree {
	return DIFFERENCES.filter((one) => one !== but).reduce((done, one) => one.asPeer(done), tree);
}

/**
 * The document for the peer, in a shell where each `host:` variable holds the text of its own reference: the
 * peer resolves references to values, we keep them.
 */
export function forPeer(raw: Tree): Given["submit"] {
	const yaml = emitYaml(withoutForwardEnv(raw));
	const references = [...yaml.matchAll(/"(host:(\w+))"/g)].map(([, text, variable]) => [variable, text]);
	return { yaml, env: Object.fromEntries(references) };
}

/** Mappings whose keys are names that users chose, and values in which all keys are. */
const NAMED = ["services", "compute", "node_pools", "benchmarks", "env", "extra_args"];
const FREE = ["run", "prepare", "resources"];

/**
 * A resolved document as text: types, values and the order of names. The schema's own keys are sorted, because
 * the peer has another order.
 */
export function comparable(document: Value): string {
	const inOrder = (value: Value, key: string, free: boolean): Value => {
		if (!(value instanceof Map)) return value;
		const entries = [...(value as Tree)];
		if (!free && !NAMED.includes(key)) entries.sort(([a], [b]) => (a < b ? -1 : 1));
		return new Map(entries.map(([name, item]) => [name, inOrder(item, name, free || FREE.includes(name))]));
	};
	return shown(inOrder(document, "", false));
}
