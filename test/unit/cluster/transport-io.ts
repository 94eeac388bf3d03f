import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { TransportIo } from "../../../src/cluster/transport/transport.ts";
import type { Problem } from "../../../src/errors.ts";
import { GymError } from "../../../src/errors.ts";
import { noPoints } from "../../../src/points.ts";

/** The surroundings of a transport in tests: nobody at the terminal, no points. */
export function transportIo(overrides: Partial<TransportIo> = {}): TransportIo {
	return {
		points: noPoints,
		nonce: () => randomUUID().replaceAll("-", ""),
		env: process.env,
		terminal: null,
		...overrides,
	};
}

/** The only problem that a promise is rejected with, and the exit name. */
export async function problemOf(promise: Promise<unknown>): Promise<Problem & { readonly exit: string }> {
	const error = await promise.then(
		(value) => new Error(`expected an error, got ${JSON.stringify(value)}`),
		(reason: unknown) => reason,
	);
	if (!GymError.is(error) || error.problems.length !== 1) throw error;
	return { ...error.problems[0]!, exit: error.exit };
}

/** A folder that is gone after the test. */
export async function tempFolder(): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), "gym-test-"));
	onTestFinished(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** A stand-in `ssh` and what it was called with. */
export interface FakeSsh {
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Argument lists of all calls so far, in order. */
	calls(): Promise<readonly (readonly string[])[]>;
}

/**
 * Puts a stand-in `ssh` first on a PATH of its own.
 * @param exchange bash text for calls that run a command; `run` in it does what a real host would
 * @param control bash text for calls about a master (`-O …`); by default there is none
 * @param open bash text for calls that open a master in the foreground (`-N`)
 */
export async function fakeSsh(
	exchange: string,
	control = "echo 'Control socket connect: No such file or directory' >&2; exit 255",
	open = "exit 0",
): Promise<FakeSsh> {
	const folder = await tempFolder();
	const log = join(folder, "calls");
	const text = `#!/bin/bash
printf '%s\\0' "$@" $'\\n' >>${log}
last=\${!#}
run() { exec bash -c "$last"; }
for arg; do case $arg in
-O) ${control} ;;
-N) ${open} ;;
esac; done
${exchange}
`;
	await writeFile(join(folder, "ssh"), text);
	await chmod(join(folder, "ssh"), 0o755);
	return {
		env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
		async calls() {
			const words = (await readFile(log, "utf8").catch(() => "")).split("\0\n\0");
			return words.filter(Boolean).map((call) => call.split("\0"));
		},
	};
}
