/** What the command line says where there is little to say. */
import { expect, it } from "vitest";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { parse } from "../../../src/cli/parse.ts";
import { cancelOutcome, outcomesText } from "../../../src/cli/views/apply.ts";
import { paintFor } from "../../../src/cli/views/paint.ts";
import { planText } from "../../../src/cli/views/plan.ts";
import { makeDesired, makePlan, makeRun, makeState } from "../plan/runs.ts";

const paint = paintFor(0);

it("names the command that help was asked for, when there is none", () => {
	expect(() => parse(["help", "nope"], COMMANDS, 100)).toThrow("unknown command 'nope'");
	expect(parse(["help", "plan"], COMMANDS, 100)).toMatchObject({ help: expect.stringContaining("gym plan") });
});

it("does not claim to have cancelled a job where there was none", () => {
	const text = outcomesText([cancelOutcome("math/aime", [], false)], [], { paint, clock: () => "" });
	expect(text).toBe("  math/aime      cancelled   no job was queued or running\n");
});

it("says once that a run was cancelled", () => {
	const aime = makeDesired("aime");
	const state = makeState({ aime: makeRun(aime, { status: "cancelled", note: "cancelled by somebody" }) });
	const text = planText(makePlan([aime], state), { showJob: "fold", paint });
	expect(text).toContain("! math/aime  cancelled by somebody (run kept");
});
