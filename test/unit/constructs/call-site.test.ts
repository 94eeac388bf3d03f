import { afterEach, expect, test } from "vitest";
import { callSite, stackFrames } from "../../../constructs/call-site.ts";
import { App, EvalStack, SlurmCompute, synthApp } from "../../../constructs/index.ts";

const { stackTraceLimit, prepareStackTrace } = Error;

afterEach(() => {
	Error.stackTraceLimit = stackTraceLimit;
	if (prepareStackTrace) Error.prepareStackTrace = prepareStackTrace;
	else Reflect.deleteProperty(Error, "prepareStackTrace");
});

test("frames are read in every form that Node writes", () => {
	const stack = `RangeError: at /not/a/frame
    at new Mine (/home/a b (c)/gymfile.ts:12:26)
    at /home/a b (c)/gymfile.ts:17:3
    at async Function.import (file:///home/a%20b/x.mjs:1:187718)
    at Object.<anonymous> [as run] (/x.ts:3:4)
    at node:internal/process/task_queues:95:5
    at Array.map (<anonymous>)
    at eval (eval at <anonymous> (/y.ts:1:2), <anonymous>:1:1)
    at data:text/javascript;base64,AAAA:1:2`;
	expect(stackFrames(stack)).toEqual([
		{ file: "/home/a b (c)/gymfile.ts", line: 12, column: 26 },
		{ file: "/home/a b (c)/gymfile.ts", line: 17, column: 3 },
		{ file: "/home/a b/x.mjs", line: 1, column: 187718 },
		{ file: "/x.ts", line: 3, column: 4 },
	]);
});

test("the caller is found whatever limit the program has set, and the limit stays", () => {
	Error.stackTraceLimit = 0;
	const ask = () => callSite(ask);
	expect(ask()?.file).toContain("call-site.test.ts");
	expect(Error.stackTraceLimit).toBe(0);
});

test("a program that makes its own stack traces costs the place, nothing else", () => {
	Error.prepareStackTrace = (_, frames) => frames;
	expect(new App().source).toBeUndefined();
});

test("a pool that is added later is located where it was added", () => {
	const stack = new EvalStack(new App(), "s", { outputPath: "/x" });
	const cluster = new SlurmCompute(stack, "c", { account: "a", nodePools: { gpu: { partition: "q" } } });
	cluster.addPool("aux", { partition: "q" });
	const { sources } = synthApp(stack.node.root)[0]!;
	const line = (pool: string) => sources.locate(["compute", "c", "node_pools", pool, "nodes"]).source!.line!;
	expect(line("gpu")).toBe(cluster.source!.line);
	expect(line("aux")).toBe(cluster.source!.line! + 1);
});
