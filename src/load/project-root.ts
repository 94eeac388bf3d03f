/** The folder that a gymfile or submit document belongs to. */
import { realpath } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * The folder that `file` (absolute) lies in, without symbolic links: `.gym` lies there, and a local compute's
 * relative output path counts from it, by whatever path a person came. A folder that cannot be read stays as named.
 */
export async function projectRoot(file: string): Promise<string> {
	const folder = dirname(file);
	return realpath(folder).catch(() => folder);
}
