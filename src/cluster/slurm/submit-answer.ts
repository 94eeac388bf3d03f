/** What sbatch answered: the job id among the notices of plugins and wrappers. */

/** Which job sbatch made. */
export interface SubmitAnswer {
	readonly jobId: string;
	/** Cluster that sbatch named; null when it named none. */
	readonly cluster: string | null;
}

const PARSABLE = /^([1-9]\d*)(?:;(\S+))?$/;
const SENTENCE = /\bSubmitted batch job ([1-9]\d*)(?: on cluster (\S+))?/;

function lines(text: string): readonly string[] {
	return text
		.replaceAll(/\x1b\[[0-9;]*[A-Za-z]/g, "")
		.split(/[\r\n]+/)
		.map((line) => line.trim());
}

function lastMatch(text: string, pattern: RegExp): SubmitAnswer | null {
	const match = lines(text)
		.map((line) => pattern.exec(line))
		.findLast((found) => found !== null);
	return match ? { jobId: match[1]!, cluster: match[2] ?? null } : null;
}

/**
 * Finds the job id in what sbatch printed: Slurm's sentence, or the last line that is nothing but an id
 * (`123`, `123;cluster`). On stderr only the sentence counts: a bare number there may be anything.
 * @returns null when there is none; the job may exist all the same
 */
export function parseSubmitAnswer(stdout: string, stderr = ""): SubmitAnswer | null {
	return lastMatch(stdout, SENTENCE) ?? lastMatch(stdout, PARSABLE) ?? lastMatch(stderr, SENTENCE);
}
