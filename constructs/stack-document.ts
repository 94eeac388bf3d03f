/** The submit document of one stack. */
import type { IConstruct } from "constructs";
import type { Problem } from "../src/errors.ts";
import type { SourceMap, Value } from "../src/submit/config.ts";
import type { Path } from "../src/submit/path.ts";
import type { Benchmark } from "./benchmark.ts";
import type { Element } from "./element.ts";
import { isKind } from "./elements.ts";
import type { EvalStack } from "./eval-stack.ts";
import type { Kind } from "./kind.ts";
import { originOf, treeError } from "./problem.ts";
import type { SlurmCompute } from "./slurm-compute.ts";
import { type SourceEntry, sourceMap } from "./sources.ts";
import { pathText, plainTree } from "./tree.ts";

/** The engine's own settings of a benchmark. */
export interface BenchmarkSettings {
	/** What a changed job means for a live chain. */
	readonly onChange: "refuse" | "replace";
	/** Time limits in a row that a resumable one may reach without progress; null is any number. */
	readonly noProgressLimit: number | null;
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

	const ofKind = <K extends Kind>(...kinds: readonly K[]) => elements.filter((e) => isKind(e, ...kinds));

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
	const services = ofKind("vllm", "vllm_pd", "ray");
	const compute = only(ofKind("slurm", "local"), "compute");
	const driver = only(ofKind("driver"), "driver");
	const otel = only(ofKind("otel"), "otel");
	const benchmarks = ofKind("benchmark");
	if (!compute) problems.push(noCompute(stack));

	const driverFields = driver ? (write(driver, ["driver"]) as ReadonlyMap<string, Value>) : [];
	const raw = new Map<string, Value>([
		["services", named(services, ["services"])],
		["compute", named(compute ? [compute] : [], ["compute"])],
		["driver", new Map([...driverFields, ["benchmarks", named(benchmarks, ["driver", "benchmarks"])]])],
		["job", write(stack, ["job"])],
	]);
	if (otel) raw.set("otel", write(otel, ["otel"]));
	if (isKind(compute, "slurm")) sources.push(...poolSources(compute));
	return {
		stack: stack.name,
		raw,
		sources: sourceMap(sources),
		settings: { benchmarks: new Map(benchmarks.map((benchmark) => [benchmark.name, settingsOf(benchmark)])) },
		problems,
	};
}

function settingsOf({ props }: Benchmark): BenchmarkSettings {
	const { onChange = "refuse", noProgressLimit = 3 } = props.lifecycle ?? {};
	return { onChange, noProgressLimit };
}

/** Pools added later have a line of their own. */
function poolSources(compute: SlurmCompute<string>): readonly SourceEntry[] {
	return [...compute.poolSources].map(([pool, source]) => [
		["compute", compute.name, "node_pools", pool],
		{ ...originOf(compute), ...(source && { source }) },
	]);
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
