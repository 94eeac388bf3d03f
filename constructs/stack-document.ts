/** The submit document of one stack. */
import type { IConstruct } from "constructs";
import type { Problem } from "../src/errors.ts";
import type { SourceMap, Value } from "../src/submit/config.ts";
import type { Element } from "./element.ts";
import { isKind } from "./elements.ts";
import type { EvalStack } from "./eval-stack.ts";
import { originOf, treeError } from "./problem.ts";
import { type SourceEntry, sourceMap } from "./sources.ts";
import { type Path, pathText, plainTree } from "./tree.ts";

/** The engine's own settings of a benchmark. */
export interface BenchmarkSettings {
	/** What a changed job means for a live chain. */
	readonly onChange: "refuse" | "replace";
}

/** What the constructs say beside the document. */
export interface StackSettings {
	/** By benchmark name. */
	readonly benchmarks: ReadonlyMap<string, BenchmarkSettings>;
}

/** One stack as data. */
export interface SynthesizedStack {
	/** Name of the stack. */
	readonly stack: string;
	/** The submit document: its own keys, a `Map` for every mapping, only what was set. Text is literal, not escaped. */
	readonly raw: ReadonlyMap<string, Value>;
	/** Which construct and which line of the gymfile wrote what. */
	readonly sources: SourceMap;
	readonly settings: StackSettings;
	/** What is wrong with the tree, and what validations and aspects said. The document itself is not checked yet. */
	readonly problems: readonly Problem[];
}

/** Makes the document of a stack from its constructs, which come in the order they were made. */
export function stackDocument(stack: EvalStack, elements: readonly Element[]): SynthesizedStack {
	const problems: Problem[] = [];
	const sources: SourceEntry[] = [[[], originOf(stack)]];
	const own = new Set<IConstruct>(elements);
	const contains = (construct: IConstruct) => own.has(construct);

	const write = (element: Element, path: Path): Value => {
		sources.push([path, originOf(element)]);
		const refuse = (code: string, at: Path, message: string, remedy: string) =>
			problems.push(treeError(element, code, pathText(at), message, remedy));
		return plainTree(element.toDocument(), path, { contains, refuse });
	};
	const named = (list: readonly Element[], path: Path): ReadonlyMap<string, Value> => {
		problems.push(...repeated(list, path));
		return new Map(list.map((element) => [element.name, write(element, [...path, element.name])]));
	};
	const only = <T extends Element>(list: readonly T[], section: string): T | undefined => {
		const [first, ...more] = list;
		const message = `there is already ${first?.node.path}: a stack has one ${section}`;
		const remedy = "remove one, or make a second stack";
		problems.push(...more.map((e) => treeError(e, `${section}-duplicate`, section, message, remedy)));
		return first;
	};

	problems.push(...elements.filter(({ name }) => /[/\n]/.test(name)).map(badId));
	const compute = only(
		elements.filter((e) => isKind(e, "slurm", "local")),
		"compute",
	);
	if (!compute) problems.push(noCompute(stack));
	const driver = only(
		elements.filter((e) => isKind(e, "driver")),
		"driver",
	);
	const otel = only(
		elements.filter((e) => isKind(e, "otel")),
		"otel",
	);
	const benchmarks = elements.filter((e) => isKind(e, "benchmark"));

	const driverSection = driver ? (write(driver, ["driver"]) as ReadonlyMap<string, Value>) : [];
	const raw = new Map<string, Value>([
		[
			"services",
			named(
				elements.filter((e) => isKind(e, "vllm", "vllm_pd", "ray")),
				["services"],
			),
		],
		["compute", named(compute ? [compute] : [], ["compute"])],
		["driver", new Map([...driverSection, ["benchmarks", named(benchmarks, ["driver", "benchmarks"])]])],
		["job", write(stack, ["job"])],
	]);
	if (otel) raw.set("otel", write(otel, ["otel"]));
	if (isKind(compute, "slurm")) {
		for (const [pool, source] of compute.poolSources) {
			const path = ["compute", compute.name, "node_pools", pool];
			sources.push([path, { ...originOf(compute), ...(source && { source }) }]);
		}
	}
	const settings = {
		benchmarks: new Map(
			benchmarks.map(
				({ name, props }) => [name, { onChange: props.lifecycle?.onChange ?? "refuse" }] as const,
			),
		),
	};
	return { stack: stack.name, raw, sources: sourceMap(sources), settings, problems };
}

/** Ids are unique among siblings only; names in a document are unique in the whole stack. */
function repeated(list: readonly Element[], path: Path): readonly Problem[] {
	return list.flatMap((element, index) => {
		const first = list.slice(0, index).find(({ name }) => name === element.name);
		if (!first) return [];
		const message = `${first.node.path} has the name ${JSON.stringify(element.name)} already`;
		return treeError(
			element,
			"name-duplicate",
			pathText([...path, element.name]),
			message,
			"rename one of them",
		);
	});
}

function badId(element: Element): Problem {
	const message = `the id ${JSON.stringify(element.name)} has a "/" or a line break in it`;
	return treeError(element, "id-invalid", "", message, 'use "-" or "." to join words');
}

function noCompute(stack: EvalStack): Problem {
	const message = `stack ${JSON.stringify(stack.name)} says nowhere where its jobs run`;
	const remedy = "add new SlurmCompute(stack, …) or new LocalCompute(stack, …)";
	return treeError(stack, "compute-missing", "compute", message, remedy);
}
