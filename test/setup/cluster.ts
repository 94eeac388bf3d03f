/** What cluster tests do with the test bed. */
import { chown, mkdtemp, stat } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { type ClusterInfo, type Finished, slurmCluster } from "./slurm-cluster.ts";

/** The cluster that the global setup brought up. */
export function clusterInfo(): ClusterInfo {
	return inject("cluster");
}

/** Runs a program as the cluster's user on the login node, in its home, with a login's environment. */
export function as(...command: readonly string[]): Promise<Finished> {
	const { run, user } = clusterInfo();
	return slurmCluster(run, "as", user, ...command);
}

/** Runs a program as root on one host: `node1` to `node4`, `login`, or `ctl`, where slurmctld is. */
export function on(host: string, ...command: readonly string[]): Promise<Finished> {
	return slurmCluster(clusterInfo().run, "on", host, ...command);
}

/** Lets a running job's time limit end now; it is TIMEOUT 2 to 3 seconds later. */
export async function timeoutJob(id: number | string): Promise<void> {
	const { code, stderr } = await slurmCluster(clusterInfo().run, "timeout", String(id));
	if (code !== 0) throw new Error(`timeout of job ${id}: ${stderr}`);
}

/** One job as the controller knows it; it forgets ended ones after 300 s. */
export interface JobRow {
	readonly id: number;
	/** Slurm's state in full, e.g. `PENDING`. */
	readonly state: string;
	readonly workdir: string;
}

/** The jobs, ended ones too, whose working directory begins with the given text, by id. */
export async function jobs(workdirPrefix: string): Promise<readonly JobRow[]> {
	const { code, stdout, stderr } = await on("ctl", "squeue", "-h", "-t", "all", "-o", "%A|%T|%Z");
	if (code !== 0) throw new Error(`squeue: ${stderr}`);
	return stdout
		.split("\n")
		.map((line) => line.split("|"))
		.map(([id, state = "", ...workdir]) => ({ id: Number(id), state, workdir: workdir.join("|") }))
		.filter((job) => job.state !== "" && job.workdir.startsWith(workdirPrefix))
		.sort((a, b) => a.id - b.id);
}

/** A new, empty folder of the cluster's user, below the hidden root. */
export async function freshOutputPath(): Promise<string> {
	const { outputRoot } = clusterInfo();
	const path = await mkdtemp(join(outputRoot, "out-"));
	const { uid, gid } = await stat(outputRoot);
	await chown(path, uid, gid);
	return path;
}

/**
 * Looks again and again until the condition holds.
 * @param condition what is to become true; undefined, null and false mean "not yet"
 * @param what for the message when it does not: "job 3 to run"
 * @param options.timeoutMs default 60 000
 * @returns what the condition returned
 * @throws Error after the time is over
 */
export async function waitFor<T>(
	condition: () => Promise<T | undefined | null | false> | T | undefined | null | false,
	what: string,
	{ timeoutMs = 60_000 }: { readonly timeoutMs?: number } = {},
): Promise<T> {
	const end = performance.now() + timeoutMs;
	for (;;) {
		const value = await condition();
		if (value !== undefined && value !== null && value !== false) return value;
		if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms for ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
}
