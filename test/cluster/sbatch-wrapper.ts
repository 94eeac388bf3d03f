/** Puts programs of the test's own before those of Slurm on the login node. */
import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { quote } from "../../src/job/script/quote.ts";
import { clusterInfo, waitFor } from "../setup/cluster.ts";
import { stubFolder } from "./stub-folder.ts";

const REAL = "/usr/bin/sbatch";

/** Until the test is over, runs bash lines before a program where a condition holds. They see its arguments. */
export async function wrap(program: string, condition: string, lines: readonly string[]): Promise<void> {
	const path = join(clusterInfo().run, "bin", program);
	onTestFinished(() => rm(path, { force: true }));
	const text = ["#!/bin/bash", `if ${condition}; then`, ...lines, "fi", `exec /usr/bin/${program} "$@"`, ""];
	await writeFile(`${path}.new`, text.join("\n"));
	await chmod(`${path}.new`, 0o755);
	await rename(`${path}.new`, path);
}

/** For submissions below `outputPath`, runs bash lines before sbatch; they may `exec` something else. */
export function wrapSbatch(outputPath: string, lines: readonly string[]): Promise<void> {
	return wrap("sbatch", `[[ "$*" == *${quote(`--chdir=${outputPath}/`)}* ]]`, lines);
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

/** Where calls of a program wait. */
export interface Gate {
	/** Waits until that many calls are there (default 1); their pids, the first one's first. */
	arrived(count?: number): Promise<readonly string[]>;
	open(): Promise<void>;
}

async function gate(wrapWith: (lines: readonly string[]) => Promise<void>): Promise<Gate> {
	const { path } = await stubFolder();
	const [here, go] = [join(path, "arrived"), join(path, "open")];
	await wrapWith([`echo $$ >>${quote(here)}`, `while [[ ! -e ${quote(go)} ]]; do sleep 0.05; done`]);
	const pids = async () => (await readFile(here, "utf8").catch(() => "")).split("\n").slice(0, -1);
	return {
		arrived: (count = 1) =>
			waitFor(async () => {
				const found = await pids();
				return found.length >= count && found;
			}, `${count} call(s) at the gate`),
		open: () => writeFile(go, ""),
	};
}

/** Holds every sbatch for submissions below `outputPath`. */
export function gateSbatch(outputPath: string): Promise<Gate> {
	return gate((lines) => wrapSbatch(outputPath, lines));
}

/** Holds every scancel, whosever jobs it is about. */
export function gateScancel(): Promise<Gate> {
	return gate((lines) => wrap("scancel", "true", lines));
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
