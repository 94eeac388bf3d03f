/** What `gym synth` prints: a stack's submit document, and the same as an event. */
import type { Value } from "../../submit/config.ts";
import type { Unstamped } from "./events.ts";
import { plain } from "./json-value.ts";
import { printable } from "./layout.ts";

export interface DocumentScreen {
	readonly stack: string;
	readonly raw: ReadonlyMap<string, Value>;
	readonly yaml: string;
	/** Where it was written to; null when it is only printed. */
	readonly file: string | null;
}

/** The YAML itself, or the path of the file that holds it. */
export function documentText({ yaml, file }: DocumentScreen): string {
	return file === null ? yaml : `${printable(file)}\n`;
}

/** Text and data. */
export function documentEvent({ stack, raw, yaml, file }: DocumentScreen): Unstamped {
	return { type: "document", stack, yaml, document: plain(raw), file };
}
