/** Names that users chose, as parts of file names and of shell names. */

/** A step's names, unique within one job. */
export interface StepName {
	readonly id: string;
	readonly word: string;
}

const LONGEST = 80;

/** Taken by the job itself: steps, and the batch script's own log. */
const RESERVED = ["driver", "slurm", "job", "queue", "otel_collector"];

function unused(wanted: string, taken: ReadonlySet<string>, joint: string): string {
	if (!taken.has(wanted)) return wanted;
	let n = 2;
	while (taken.has(`${wanted}${joint}${n}`)) n++;
	return `${wanted}${joint}${n}`;
}

/**
 * Step names for services, in their order. Characters that file names or shells treat specially become `_`;
 * a name that is then taken (also by the driver or the batch script's own log) gets a number.
 */
export function stepNames(services: readonly string[]): readonly StepName[] {
	const ids = new Set(RESERVED);
	const words = new Set(RESERVED);
	return services.map((name) => {
		const id = unused(name.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, LONGEST), ids, "_");
		const bare = name
			.toLowerCase()
			.replace(/[^a-z0-9]+/g, "_")
			.replace(/^_|_$/g, "");
		const word = unused(bare.slice(0, LONGEST).replace(/_$/, "") || "service", words, "_");
		ids.add(id);
		words.add(word);
		return { id, word };
	});
}
