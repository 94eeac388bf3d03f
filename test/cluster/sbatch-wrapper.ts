/** Puts a program of the test's own before the login node's sbatch. */
import { access, chmod, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { quote } from "../../src/job/script/quote.ts";
import { clusterInfo, waitFor } from "../setup/cluster.ts";
import { stubFolder } from "./stub-folder.ts";

const REAL = "/usr/bin/sbatch";

/**
 * For submissions below `outputPath`, runs bash lines before sbatch until the test is over. They see sbatch's
 * arguments and may `exec` something else.
 */
export async function wrapSbatch(outputPath: string, lines: readonly string[]): Promise<void> {
	const path = join(clusterInfo().run, "bin/sbatch");
	onTestFinished(() => rm(path, { force: true }));
	const text = [
		"#!/bin/bash",
		`if [[ "$*" == *${quote(`--chdir=${outputPath}/`)}* ]]; then`,
		...lines,
		"fi",
		`exec ${REAL} "$@"`,
		"",
	];
	await writeFile(`${path}.new`, text.join("\n"));
	await chmod(`${path}.new`, 0o755);
	await rename(`${path}.new`, path);
}

/** Has sbatch refuse one benchmark, in its own words, until the returned function was called. */
export async function refuseBenchmark(outputPath: string, benchmark: string): Promise<() => Promise<void>> {
	const { path } = await stubFolder();
	const lifted = join(path, "lifted");
	await wrapSbatch(outputPath, [
		`if [[ "$*" == */${benchmark}/job.sh* && ! -e ${quote(lifted)} ]]; then exec ${REAL} --licenses=nosuch:1 "$@"; fi`,
	]);
	return () => writeFile(lifted, "");
}

/** Holds every sbatch until `open`; `arrived` waits for the first. */
export async function gateSbatch(
	outputPath: string,
): Promise<{ readonly arrived: () => Promise<void>; readonly open: () => Promise<void> }> {
	const { path } = await stubFolder();
	const [here, go] = [join(path, "arrived"), join(path, "open")];
	await wrapSbatch(outputPath, [`: >${quote(here)}`, `while [[ ! -e ${quote(go)} ]]; do sleep 0.05; done`]);
	const exists = () =>
		access(here).then(
			() => true,
			() => false,
		);
	return {
		arrived: async () => {
			await waitFor(exists, "sbatch to be called");
		},
		open: () => writeFile(go, ""),
	};
}

/** Ways in which sbatch says more, or less, than it did: lines for `wrapSbatch`. */
export const STAND_INS: Readonly<Record<string, readonly string[]>> = {
	"sbatch queues, then times out": [
		`${REAL} "$@" >/dev/null`,
		'echo "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation" >&2',
		"exit 1",
	],
	"sbatch warns after the id": [
		`${REAL} "$@" || exit`,
		'echo "sbatch: warning: 2 of your 4711 jobs have expired" >&2',
		"exit 0",
	],
	"a wrapper of the site says more": [
		'echo "site-sbatch 3.1: account checked, 4711 hours left"',
		`id=$(${REAL} "$@") || exit`,
		`echo "Submitted batch job $id"`,
		'echo "Help: https://hpc.example.org/2026"',
		"exit 0",
	],
};
