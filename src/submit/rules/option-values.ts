/** Options in words that a user writes for a shell. */

/** Values given to `option` (`--port 1`, `--port=1`, quoted or not), in order. */
export function optionValues(words: string, option: `--${string}`): readonly string[] {
	const given = new RegExp(String.raw`(?:^|\s)["']?${option}["']?(?:=|\s+)["']?([^\s"']+)`, "g");
	return [...words.matchAll(given)].map(([, value]) => value!);
}
