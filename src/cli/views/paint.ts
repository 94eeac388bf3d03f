/** Colours. They only mark what the text already says, so every view also reads without them. */
import { Chalk, type ColorSupportLevel } from "chalk";

/** What a piece of text means; the view decides the meaning, the paint decides the colour. */
export interface Paint {
	readonly add: (text: string) => string;
	readonly remove: (text: string) => string;
	readonly change: (text: string) => string;
	readonly warn: (text: string) => string;
	readonly error: (text: string) => string;
	readonly strong: (text: string) => string;
	readonly faint: (text: string) => string;
}

/** Paint for a colour level of chalk; 0 paints nothing. The command line decides the level, once. */
export function paintFor(level: ColorSupportLevel): Paint {
	const chalk = new Chalk({ level });
	return {
		add: (text) => chalk.green(text),
		remove: (text) => chalk.red(text),
		change: (text) => chalk.yellow(text),
		warn: (text) => chalk.yellow(text),
		error: (text) => chalk.red(text),
		strong: (text) => chalk.bold(text),
		faint: (text) => chalk.dim(text),
	};
}
