/** Which addresses a command line is about. */
import { expect, test } from "vitest";
import { choiceOf } from "../../../src/cli/options.ts";

const STACKS = ["math", "code"];

test.each(["gsm8k", "mat/gsm8k", "m/*", "maths/x"])("-target %s is about no stack", (pattern) => {
	expect(() => choiceOf({ target: [pattern] }, STACKS)).toThrow(/address-unknown: -target .* none of the/);
	expect(() => choiceOf({ replace: ["math/x", pattern] }, STACKS)).toThrow("-replace");
	expect(() => choiceOf({ exclude: [pattern] }, STACKS)).toThrow("-exclude");
});

test.each(["math/gsm8k", "code/*", "ma*/x", "m?th/x", "*", "*/x", "*x"])("-target %s may be", (pattern) => {
	expect(choiceOf({ target: [pattern] }, STACKS).target).toEqual([pattern]);
});
