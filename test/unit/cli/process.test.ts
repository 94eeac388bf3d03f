/** What commands take from the process: colours, the wait for the lock. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { makeView } from "../../../src/cli/output.ts";
import { stateStore } from "../../../src/cli/process-io.ts";

afterEach(() => vi.unstubAllGlobals());

/** Are stdout and stderr coloured? */
function colours(terminals: { out: boolean; err: boolean }, env: NodeJS.ProcessEnv, options = {}) {
	const written = { out: "", err: "" };
	const { stdout, stderr } = process;
	vi.stubGlobal("process", {
		...process,
		stdout: { ...stdout, isTTY: terminals.out },
		stderr: { ...stderr, isTTY: terminals.err },
	});
	const view = makeView({
		options,
		env,
		out: (text) => {
			written.out += text;
		},
		err: (text) => {
			written.err += text;
		},
	});
	const problem = { code: "c", severity: "error" as const, at: "", message: "m" };
	view.valid({ stacks: ["a"], problems: [problem] });
	view.problems({ problems: [problem], exit: "invalid", aftermath: "unknown" });
	return [written.out.includes("\u001b["), written.err.includes("\u001b[")];
}

test.each([
	[{ out: true, err: false }, {}, {}, [true, false]],
	[{ out: false, err: true }, {}, {}, [false, true]],
	[{ out: true, err: true }, { NO_COLOR: "1" }, {}, [false, false]],
	[{ out: false, err: false }, { FORCE_COLOR: "1" }, {}, [true, true]],
	[{ out: true, err: true }, {}, { color: "never" }, [false, false]],
	[{ out: false, err: false }, { NO_COLOR: "1" }, { color: "always" }, [true, true]],
])("terminals %j, environment %j, options %j: coloured %j", (terminals, env, options, expected) => {
	expect(colours(terminals, env, options)).toEqual(expected);
});

test("the wait for a lock ends with the signal", async () => {
	const folder = await mkdtemp(join(tmpdir(), "gym-lock-"));
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	const env = { PATH: process.env.PATH };
	const holder = await stateStore({ env, signal: new AbortController().signal }, folder).acquire(
		"s",
		"apply",
		{
			timeoutSeconds: 0,
		},
	);
	const { signal, abort } = (() => {
		const controller = new AbortController();
		return { signal: controller.signal, abort: () => controller.abort() };
	})();
	const waiting = stateStore({ env, signal }, folder).acquire("s", "cancel", { timeoutSeconds: 3600 });
	abort();
	await expect(waiting).rejects.toMatchObject({ exit: "interrupted", problems: [{ code: "interrupted" }] });
	await holder.release();
});
