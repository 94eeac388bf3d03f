/** The environment that a job starts with. Pure. */
import type { Submission } from "../scheduler.ts";
import type { Entry } from "./registry.ts";

/** Names of our own variables begin with it. */
const OWN = "GYM_LOCAL_";

/** Variable in the environment of every process of a job; its value is the folder of the job's entry. */
export const MARK = `${OWN}JOB`;

/** Variable of every supervisor; its value is the folder that it was started for. */
export const SUPERVISES = `${OWN}SUPERVISES`;

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The submitting shell's environment without what is withheld, and the forwarded variables. Left out too are what npm adds to PATH (our own `gym`
 * would stand before NeMo Gym's there) and the variables of a Slurm job or local job that we may be in.
 */
export function jobEnvironment(
	env: Environment,
	{ withheld, forward }: Pick<Submission, "withheld" | "forward">,
): Environment {
	const own = Object.entries(env).filter(
		([name]) => !name.startsWith("SLURM_") && !name.startsWith(OWN) && !withheld.includes(name),
	);
	const { PATH, ...rest } = Object.fromEntries(own);
	return {
		...rest,
		...(PATH === undefined ? {} : { PATH: withoutNodeModules(PATH) }),
		...Object.fromEntries(forward),
	};
}

/** The program that supervises jobs. */
export interface Program {
	/** Path of the Node that runs it. */
	readonly node: string;
	readonly supervisor: string;
}

/** What a job's script gets beside its environment: who it is, and how to queue its successor. */
export function scriptEnvironment(
	env: Environment,
	{ folder, job }: Entry,
	{ node, supervisor }: Program,
): Environment {
	return {
		...env,
		SLURM_JOB_ID: String(job.id),
		[MARK]: folder,
		[`${OWN}NODE`]: node,
		[`${OWN}SUPERVISOR`]: supervisor,
	};
}

/** Environment of a supervisor's own process. Options for our Node are not meant for it. */
export function supervisorEnvironment(
	env: Environment,
	withheld: readonly string[],
	folder: string,
): Environment {
	const own = Object.entries(jobEnvironment(env, { withheld, forward: new Map() })).filter(
		([name]) => !name.startsWith("NODE_"),
	);
	return { ...Object.fromEntries(own), [SUPERVISES]: folder };
}

function withoutNodeModules(path: string): string {
	return path
		.split(":")
		.filter((folder) => !/\/node_modules\/\.bin\/*$/.test(folder))
		.join(":");
}
