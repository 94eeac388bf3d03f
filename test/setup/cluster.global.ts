/** Brings up one Slurm cluster for all cluster tests and takes it down after them. */
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type ClusterInfo, describeCluster, runProgram, slurmCluster } from "./slurm-cluster.ts";

declare module "vitest" {
	interface ProvidedContext {
		cluster: ClusterInfo;
	}
}

const PACKAGES = new URL("./packages", import.meta.url).pathname;

/**
 * Installs what is missing, starts a cluster in a fresh folder and provides it as `cluster`. With
 * GYMFILE_TEST_CLUSTER_RUN set it uses the cluster of that run folder, and leaves it running.
 * @returns the teardown: stops the cluster
 * @throws Error when the cluster does not come up; its logs are then kept in a folder that the message names
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
	const given = process.env.GYMFILE_TEST_CLUSTER_RUN;
	if (given) {
		project.provide("cluster", await describeCluster(given));
		return async () => {};
	}
	const packages = await runProgram(PACKAGES, []);
	if (packages.code !== 0) throw new Error(`packages: ${packages.stderr}`);
	const run = await mkdtemp(join(tmpdir(), "gymbed-"));
	const up = await slurmCluster(run, "up");
	if (up.code !== 0) {
		const logs = `${run}-log`;
		// There are none if it failed before anything was started.
		await cp(join(run, "log"), logs, { recursive: true }).catch(() => undefined);
		await slurmCluster(run, "down");
		throw new Error(`the cluster did not come up: ${up.stdout}${up.stderr}\nlogs: ${logs}`);
	}
	project.provide("cluster", await describeCluster(run));
	return async () => {
		const down = await slurmCluster(run, "down");
		await rm(run, { recursive: true, force: true });
		if (down.code !== 0) throw new Error(`the cluster did not go down: ${down.stderr}`);
	};
}
