/** Files of an exchange. */
import { posix } from "node:path";
import { quote } from "../../job/script/quote.ts";
import type { StagedFile } from "../scheduler.ts";

/** The bash function `put PATH MODE TEXT`, for a folder that is there. */
export const PUT_FUNCTION = `put() { # appears whole or not at all, and never readable for others before it is meant to be
  (umask 177 && printf '%s' "$3" >"$1.new") && chmod "$2" "$1.new" && mv -f -- "$1.new" "$1"
}`;

/** Lines that put these files below a folder that is there, with the folders in their names; the exchange ends with 94 when one cannot be written. */
export function putLines(folder: string, files: ReadonlyMap<string, StagedFile>): readonly string[] {
	return [...files].flatMap(([name, { text, mode }]) => {
		const below = name.includes("/")
			? [`mkdir -p -- ${quote(posix.dirname(`${folder}/${name}`))} || return 94`]
			: [];
		return [...below, `put ${quote(`${folder}/${name}`)} ${mode.toString(8)} ${quote(text)} || return 94`];
	});
}
