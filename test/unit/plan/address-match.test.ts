import { expect, test } from "vitest";
import { addressMatcher } from "../../../src/plan/address-match.ts";

test("patterns match whole addresses; everything but * and ? is literal", () => {
	const matches = addressMatcher(["math/g*8k", "code/a.b", "x/?"]);
	expect(["math/gsm8k", "math/g8k", "code/a.b", "x/é"].every(matches)).toBe(true);
	expect(["math/gsm8k2", "code/aXb", "x/ab", "y/x/a"].some(matches)).toBe(false);
});

test("no patterns match nothing", () => {
	expect(addressMatcher([])("math/gsm8k")).toBe(false);
});
