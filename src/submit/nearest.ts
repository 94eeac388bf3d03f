/** Typo help: the known name that an unknown one most likely stands for. */

/** Number of single-character edits between two words. */
function distance(a: string, b: string): number {
	let row = Array.from({ length: b.length + 1 }, (_, column) => column);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++) {
			const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
			next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
		}
		row = next;
	}
	return row[b.length]!;
}

/** The choice nearest to `word`, or undefined when none is near enough to be a slip of the fingers. */
function nearest(word: string, choices: Iterable<string>): string | undefined {
	let best: string | undefined;
	let least = Math.max(1, Math.floor(word.length / 3)) + 1;
	for (const choice of choices) {
		const edits = distance(word.toLowerCase(), choice.toLowerCase());
		if (edits < least) {
			best = choice;
			least = edits;
		}
	}
	return best;
}

/** `did you mean "x"?`, or undefined. */
export function didYouMean(word: string, choices: Iterable<string>): string | undefined {
	const found = nearest(word, choices);
	return found === undefined ? undefined : `did you mean ${JSON.stringify(found)}?`;
}
