/** The environment that a job starts with. Pure. */
import type { Submission } from "../scheduler.ts";

/** Variable in the environment of every process of a job; its value is the folder of the job's entry. */
export const MARK = "GYM_LOCAL_JOB";

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
		([name]) => !name.startsWith("SLURM_") && name !== MARK && !withheld.includes(name),
	);
	const { PATH, ...rest } = Object.fromEntries(own);
	return {
		...rest,
		...(PATH === undefined ? {} : { PATH: withoutNodeModules(PATH) }),
		...Object.fromEntries(forward),
	};
}

function withoutNodeModules(path: string): string {
	return path
		.split(":")
		.filter((folder) => !/\/node_modules\/\.bin\/*$/.test(folder))
		.join(":");
}
