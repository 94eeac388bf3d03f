/** Drives the test bed's script `slurm-cluster` from Node. */
import { spawn } from "node:child_process";

/** What tests get to know of a cluster that is up. */
export interface ClusterInfo {
	/** Run folder of the test bed; its `log/` has every daemon's log and `container.log`. */
	readonly run: string;
	/** For `ssh -F`: host `login` is the login node. */
	readonly sshConfig: string;
	/** Port of the login node's sshd on 127.0.0.1. */
	readonly sshPort: number;
	/** Who submits and runs jobs. */
	readonly user: string;
	/** That user's home. Container steps see it. */
	readonly home: string;
	/** Where output paths of tests belong: hidden from container steps that do not mount them. */
	readonly outputRoot: string;
	/** False: all nodes share one network, so no two can listen on the same port. */
	readonly hasNetns: boolean;
	/** False: container steps see everything below `outputRoot`. */
	readonly hasHiding: boolean;
}

/** How a program ended. */
export interface Finished {
	/** Exit code; null when a signal ended it. */
	readonly code: number | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** Runs a program to its end, with nothing on stdin. Rejects only if it cannot be started. */
export function runProgram(
	file: string,
	args: readonly string[],
	env: NodeJS.ProcessEnv = process.env,
): Promise<Finished> {
	return new Promise((resolve, reject) => {
		const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "pipe"] });
		const stdout: Buffer[] = [];
		const stderr: Buffer[] = [];
		child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
		child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
		child.on("error", reject);
		child.on("close", (code) =>
			resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
		);
	});
}

/** Runs one command of the script on the cluster with that run folder, e.g. `("…/run", "timeout", "12")`. */
export function slurmCluster(run: string, ...args: readonly string[]): Promise<Finished> {
	const script = new URL("./slurm-cluster", import.meta.url).pathname;
	return runProgram(script, args, { ...process.env, CLUSTER_RUN: run });
}

/**
 * Reads what there is to know of a cluster that is up.
 * @throws Error when it is down
 */
export async function describeCluster(run: string): Promise<ClusterInfo> {
	const { code, stdout, stderr } = await slurmCluster(run, "env");
	if (code !== 0) throw new Error(`no cluster at ${run}: ${stderr}`);
	const value = (name: string): string => {
		const found = new RegExp(`^export CLUSTER_${name}=(.+)$`, "m").exec(stdout)?.[1];
		if (found === undefined) throw new Error(`slurm-cluster env does not say CLUSTER_${name}`);
		return found;
	};
	return {
		run: value("RUN"),
		sshConfig: value("SSH_CONFIG"),
		sshPort: Number(value("SSH_PORT")),
		user: value("USER"),
		home: value("HOME"),
		outputRoot: value("OUTPUT_ROOT"),
		hasNetns: value("HAS_NETNS") === "yes",
		hasHiding: value("HAS_HIDING") === "yes",
	};
}
