/** Arguments that users wrote as shell text, changed without reading their quotes: bash itself splits them. */
import { quoteAll } from "./quote.ts";

/**
 * The bash function `without "OPTION…" WORD…`: fills `kept` with the words, but for these options and their values.
 */
export const WITHOUT = `without() {
	local dropped=" $1 " word skip=""
	shift
	kept=()
	for word; do
		if [[ $skip && $word != -* ]]; then
			skip=""
			continue
		fi
		skip=""
		if [[ $dropped == *" \${word%%=*} "* ]]; then
			[[ $word == *=* ]] || skip=1
		else
			kept+=("$word")
		fi
	done
}`;

/** A command from plain words and the user's verbatim text behind them. */
export function commandText(words: readonly string[], verbatim: string): string {
	return `${quoteAll(words)}${verbatim === "" ? "" : ` ${verbatim}`}`;
}
