/** From what users wrote in props to the plain tree of a document: every mapping a `Map`, references as names. */
import type { IConstruct } from "constructs";
import type { Value } from "../src/submit/config.ts";
import { isFloat } from "../src/submit/float.ts";
import type { Path } from "../src/submit/path.ts";
import type { Element } from "./element.ts";
import { envText } from "./env.ts";
import { kindOf } from "./kind.ts";
import type { NodePool } from "./node-pool.ts";

/** Reports a value that a document cannot hold, or a reference that leads out of the stack. */
export type Refuse = (code: string, path: Path, message: string, remedy: string) => void;

/** The stack that a document is made of, and where problems go. */
export interface TreeContext {
	readonly contains: (construct: IConstruct) => boolean;
	readonly refuse: Refuse;
}

/** The path as people read it: keys joined by dots, list items as `[0]`. */
export function pathText(path: Path): string {
	return path
		.map((step, at) => (typeof step === "number" ? `[${step}]` : at > 0 ? `.${step}` : step))
		.join("");
}

/**
 * The value as plain data. What a document cannot hold is refused and becomes null; properties that are
 * undefined are left out.
 */
export function plainTree(value: unknown, path: Path, context: TreeContext): Value {
	return convert(value, path, context, []);
}

function convert(value: unknown, path: Path, context: TreeContext, within: readonly unknown[]): Value {
	if (value === null || isFloat(value)) return value;
	if (["boolean", "number", "string"].includes(typeof value)) return value as Value;
	if (within.includes(value)) return unsupported(path, context, "the value contains itself");
	const text = envText(value);
	if (text !== undefined) {
		if (path.at(-2) === "env") return text;
		return unsupported(path, context, "lit(…), host(…) and runtime(…) are for env only");
	}
	if (kindOf(value) !== undefined) return reference(value as Element | NodePool, path, context);
	const inside = [...within, value];
	if (Array.isArray(value))
		return value.map((item, index) => convert(item, [...path, index], context, inside));
	const entries = entriesOf(value);
	if (!entries) return unsupported(path, context, `${describe(value)} cannot be written to a document`);
	const kept = entries.filter(([, item]) => item !== undefined);
	return new Map(
		kept.map(([key, item]) => {
			const name = typeof key === "string" ? key : reference(key, [...path, key.name], context);
			return [name, convert(item, [...path, name], context, inside)];
		}),
	);
}

/** A key as it is written: text, or a pool that stands for its name. */
type Key = string | NodePool;

const isKey = (key: unknown): key is Key => typeof key === "string" || kindOf(key) === "pool";

/** Entries of a `Map` with such keys or of a plain object; undefined for anything else. */
function entriesOf(value: unknown): readonly (readonly [Key, unknown])[] | undefined {
	if (isMap(value)) {
		const entries = [...value];
		return entries.every(([key]) => isKey(key)) ? (entries as [Key, unknown][]) : undefined;
	}
	if (typeof value !== "object" || value === null) return undefined;
	const prototype: unknown = Object.getPrototypeOf(value);
	const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
	return plain ? Object.entries(value) : undefined;
}

function isMap(value: unknown): value is ReadonlyMap<unknown, unknown> {
	return Object.prototype.toString.call(value) === "[object Map]";
}

function describe(value: unknown): string {
	if (isMap(value)) return "a Map with keys that are not text";
	if (typeof value === "object" && value !== null)
		return `an object of class ${value.constructor?.name ?? "?"}`;
	return value === undefined ? "undefined" : `a ${typeof value}`;
}

function unsupported(path: Path, context: TreeContext, message: string): null {
	context.refuse(
		"value-unsupported",
		path,
		message,
		"use text, numbers, true, false, null, lists, plain objects or Maps",
	);
	return null;
}

function reference(target: Element | NodePool, path: Path, context: TreeContext): string {
	const owner = "compute" in target ? target.compute : target;
	if (!context.contains(owner)) {
		context.refuse(
			"reference-foreign",
			path,
			`${JSON.stringify(target.name)} (${owner.node.path}) belongs to another stack`,
			"refer to constructs of the same stack",
		);
	}
	return target.name;
}
